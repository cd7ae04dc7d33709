import { z } from 'zod';
import type { Observation, ObservedTab } from '../../benchmarks/contract.ts';
import { observationSchema } from '../../benchmarks/schemas.ts';
import { within } from './deadline.ts';
import type { ObservationBudget } from './page/reader.ts';
import type { Tab } from './tab.ts';

export const observationBudget: ObservationBudget = {
  elements: 200,
  textCharacters: 12_000,
  nodes: 10_000,
};

const headSchema = z.looseObject({ url: z.string(), title: z.string() });

const TITLE_LIMIT_MS = 5_000;

/** Empty for a tab in the background that hangs or is just closing: it is not what the policy looks at. */
async function titleOf({ page }: Tab): Promise<string> {
  return within(page.title(), TITLE_LIMIT_MS, 'Reading a title').catch(() => '');
}

/** Reads the active tab in one round trip, hit-testing included. Refs hold until the next observation. */
export async function observe(tabs: readonly Tab[], active: Tab): Promise<Observation> {
  const page = headSchema.parse(await active.world.call('read', observationBudget));
  const { title, url } = page;
  const observed = tabs.map(async (tab, index): Promise<ObservedTab> => {
    if (tab === active) return { index, url, title, active: true };
    return { index, url: tab.page.url(), title: await titleOf(tab), active: false };
  });
  return observationSchema.parse({ ...page, tabs: await Promise.all(observed) });
}
