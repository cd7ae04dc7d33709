import { runConfigSchema } from '../../activities/run-config.ts';
import type { Settings } from '../../workers/settings.ts';
import { findRun } from '../find.ts';
import { startRun } from '../start-run.ts';
import { type WorkOptions, workOn } from '../work-on.ts';

/** Goes on with a run that is paused, failed or was interrupted, as it was configured when it was last started. */
export function resume(settings: Settings, runId: string, options: WorkOptions): Promise<void> {
  return workOn(settings, options, async (place) => {
    const { config } = await findRun(place.store, runId);
    return startRun(place, runId, runConfigSchema.parse(config));
  });
}
