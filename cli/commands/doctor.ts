import { examine, type Finding } from '../../infra/doctor.ts';
import type { Settings } from '../../workers/settings.ts';

/** Prints each part, found or missing, and what brings it. Sets exit status 1 when a required part is missing. */
export async function doctor(settings: Settings, { json = false }: { json?: boolean }): Promise<void> {
  const findings = await examine(settings);
  if (json) console.log(JSON.stringify(findings));
  else for (const finding of findings) console.log(describe(finding));
  if (findings.some(({ state }) => state === 'missing')) process.exitCode = 1;
}

function describe({ part, state, detail, fix }: Finding): string {
  const line = `${state.padEnd(8)}  ${part.padEnd(10)}  ${detail}`;
  return fix === undefined ? line : `${line}\n${' '.repeat(22)}→ ${fix}`;
}
