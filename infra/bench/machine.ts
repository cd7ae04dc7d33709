import { cpus, totalmem } from 'node:os';

/** One line that belongs beside every measured figure. */
export function describeMachine(): string {
  const cores = cpus();
  const memoryGiB = Math.round(totalmem() / 2 ** 30);
  return `${cores.length} × ${cores[0]?.model.trim() ?? 'unknown processor'}, ${memoryGiB} GiB, ${process.platform}, Node ${process.version}`;
}
