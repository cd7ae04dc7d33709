import type { PageKeys, SeenAtState, SeenElement, SeenStep, UrlRules, UrlState } from './types.ts';
import { urlState } from './url-state.ts';

/** One page of a rollout as it was observed, before the step of the same index was taken. */
export interface VisitedPage {
  readonly url: string;
  readonly elements: readonly SeenElement[];
  readonly text: string;
}

export interface VisitedTrajectory {
  readonly instruction: string;
  /** Step i was taken on page i. */
  readonly steps: readonly SeenStep[];
  /** One for every step, and the page after the last action. */
  readonly pages: readonly VisitedPage[];
  readonly answer: string | null;
}

export interface StateSeen {
  readonly state: UrlState;
  readonly seen: SeenAtState;
}

/**
 * METHOD 1.4: the distinct URL states of a rollout in the order of their first visit, the one after the last
 * action included, each with what a question asked there may see and nothing later.
 */
export function seenStates(trajectory: VisitedTrajectory, rules?: UrlRules): readonly StateSeen[] {
  const keys = trajectory.pages.map((page) => urlState(page.url, rules));
  const pathKeys = [...new Set(keys.map(({ pathKey }) => pathKey))];
  return pathKeys.map((pathKey) => seenAt(pathKey, keys, trajectory));
}

function seenAt(pathKey: string, keys: readonly PageKeys[], trajectory: VisitedTrajectory): StateSeen {
  const { instruction, steps, pages, answer } = trajectory;
  const isHere = (index: number): boolean => keys[index]?.pathKey === pathKey;
  const lastVisit = keys.findLastIndex((_, index) => isHere(index));
  const lastStep = steps.findLastIndex((_, index) => isHere(index));
  const page = pages[lastVisit];
  const hostKey = keys[lastVisit]?.hostKey ?? '';
  // A state without a step of its own was reached by the step before it; what led there may be seen.
  const shownSteps = lastStep >= 0 ? lastStep + 1 : lastVisit;
  return {
    state: { hostKey, pathKey },
    seen: {
      instruction,
      pages: keys.filter((_, index) => isHere(index)),
      steps: steps.slice(0, shownSteps),
      elements: page?.elements ?? [],
      text: page?.text ?? '',
      answer: answer !== null && lastStep === steps.length - 1 ? answer : null,
    },
  };
}
