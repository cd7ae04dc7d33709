/** Stored rollouts as the parts read them: compact traces, URL states, nothing that a clock left behind. */
import { z } from 'zod';
import type { BlobStore, StoredRollout } from '../bank-store/contract.ts';
import type { Task, TraceStep } from '../benchmarks/contract.ts';
import { type StateSeen, seenStates, type VisitedPage } from '../workflows/method/seen-states.ts';
import type { SeenStep } from '../workflows/method/types.ts';
import { urlState } from '../workflows/method/url-state.ts';

/** What questions read of a stored observation. */
const observedPage = z.object({
  url: z.string(),
  text: z.string(),
  elements: z.array(
    z.object({ role: z.string(), name: z.string(), value: z.string().nullable(), context: z.string() }),
  ),
});

export function traceOf(rollout: StoredRollout): readonly TraceStep[] {
  return rollout.steps.map(({ index, urlBefore, urlAfter, action, target, result }) => ({
    index,
    urlBefore,
    urlAfter,
    action,
    target,
    result,
  }));
}

/** The rollout's URL states with what METHOD 1.4 shows at each; reads its observations from the blob store. */
export async function statesOf(
  blobs: BlobStore,
  task: Task,
  rollout: StoredRollout,
): Promise<readonly StateSeen[]> {
  const last = rollout.finished?.finalObservationDigest ?? null;
  const digests = [...rollout.steps.map((step) => step.observationDigest), ...(last === null ? [] : [last])];
  return seenStates({
    instruction: task.instruction,
    steps: traceOf(rollout).map(seenStep),
    pages: await Promise.all(digests.map((digest) => readPage(blobs, digest))),
    answer: rollout.finished?.answer ?? null,
  });
}

/** Path keys of the rollout's distinct URL states, in the order of their first visit. */
export function statePathKeys({ steps, finished }: StoredRollout): readonly string[] {
  const last = finished?.finalObservationDigest ? [finished.finalUrl] : [];
  return [...new Set([...steps.map((step) => step.urlBefore), ...last].map((url) => urlState(url).pathKey))];
}

async function readPage(blobs: BlobStore, digest: string): Promise<VisitedPage> {
  const { url, text, elements } = observedPage.parse(await blobs.getJson(digest));
  return {
    url,
    text,
    elements: elements.map(({ role, name, value, context }) => ({ role, name, value, text: context })),
  };
}

function seenStep(step: TraceStep): SeenStep {
  return {
    tool: step.action.tool,
    target: step.target === null ? null : { role: step.target.role, name: step.target.name },
    value: carriedText(step),
    ok: step.result.ok,
    url: step.urlBefore,
  };
}

/** The text that an action carries: typed, chosen, pressed, answered. */
function carriedText({ action }: TraceStep): string | null {
  switch (action.tool) {
    case 'type':
    case 'find':
      return action.text;
    case 'select':
      return action.option;
    case 'press':
      return action.key;
    case 'navigate':
      return action.url;
    case 'stop':
      return action.answer;
    case 'infeasible':
      return action.reason;
    case 'check':
      return action.checked ? 'on' : 'off';
    case 'scroll':
      return action.direction;
    case 'tab':
      return String(action.index);
    case 'click':
      return action.kind === 'single' ? null : action.kind;
    case 'hover':
    case 'drag':
    case 'back':
    case 'wait':
      return null;
  }
}
