import { z } from 'zod';
import type { Observation, ObservedElement, ObservedTab } from '../../benchmarks/contract.ts';
import type { ObservationBudget } from './page/reader.ts';
import type { Tab } from './tab.ts';

export const observationBudget: ObservationBudget = {
  elements: 200,
  textCharacters: 12_000,
  nodes: 20_000,
};

const elementSchema = z.object({
  ref: z.string(),
  role: z.string(),
  name: z.string(),
  value: z.string().nullable(),
  options: z.array(z.string()),
  states: z.array(
    z.enum([
      'checked',
      'unchecked',
      'selected',
      'expanded',
      'collapsed',
      'disabled',
      'focused',
      'on',
      'off',
      'required',
      'offscreen',
      'in-dialog',
    ]),
  ),
  context: z.string(),
  heading: z.string(),
  coveredBy: z.string().nullable(),
}) satisfies z.ZodType<ObservedElement>;

const readPageSchema = z.object({
  url: z.string(),
  title: z.string(),
  elements: z.array(elementSchema),
  text: z.string(),
  scroll: z.object({ topPx: z.number(), heightPx: z.number(), viewportPx: z.number() }),
  truncated: z.boolean(),
});

/** Reads the active tab in one round trip, hit-testing included. Refs hold until the next observation. */
export async function observe(tabs: readonly Tab[], active: Tab): Promise<Observation> {
  const page = readPageSchema.parse(await active.world.call('read', observationBudget));
  const observed = tabs.map(async (tab, index): Promise<ObservedTab> => {
    const isActive = tab === active;
    const title = isActive ? page.title : await tab.page.title();
    return { index, url: isActive ? page.url : tab.page.url(), title, active: isActive };
  });
  return { ...page, tabs: await Promise.all(observed) };
}
