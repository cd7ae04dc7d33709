import type { Settings } from '../../workers/settings.ts';
import { findRun } from '../find.ts';
import { jsonLine } from '../report/terminal-text.ts';
import { cancelRun } from '../run-control.ts';
import { withControlRoom } from '../workplace.ts';

/** Ends a run for good; what it finished stays, what is under way is recorded as aborted. */
export async function cancel(
  settings: Settings,
  runId: string,
  { json = false }: { json?: boolean },
): Promise<void> {
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const { id, state, stateReason } = await withControlRoom(settings, say, async (room) =>
    cancelRun(room, await findRun(room.store, runId)),
  );
  console.log(json ? jsonLine({ id, state, stateReason }) : `${id} is ${state}: ${stateReason}`);
}
