import { runConfigSchema } from '../../activities/run-config.ts';
import type { Settings } from '../../workers/settings.ts';
import { findRun } from '../find.ts';
import { resumeRun } from '../run-control.ts';
import { type Place, type StartedRun, startRun } from '../start-run.ts';
import { type WorkOptions, workOn } from '../work-on.ts';

/** Goes on with a run that is paused, is about to pause, failed or was interrupted. */
export function resume(settings: Settings, runId: string, options: WorkOptions): Promise<void> {
  return workOn(settings, options, (place) => continueRun(place, runId));
}

/** As it was configured when it was last started. */
export async function continueRun(place: Place, runId: string): Promise<StartedRun> {
  const { config } = await findRun(place.store, runId);
  const started = await startRun(place, runId, runConfigSchema.parse(config));
  // A run that is to pause is recorded as running until nothing of it is under way.
  if (started.handle !== null && started.run.state === 'running') await resumeRun(started.handle, runId);
  return started;
}
