import { join } from 'node:path';
import { BrowserPool } from '../../activities/browser/pool.ts';
import { ensureChromium } from '../../infra/chromium.ts';
import * as processes from '../../infra/processes.ts';
import type { Report } from '../../infra/report.ts';
import type { Settings } from '../../workers/settings.ts';

/** A browser pool for a command that plays rollouts by itself; it ends with `act`, however that ends. */
export async function withPool<T>(
  settings: Settings,
  report: Report,
  act: (pool: BrowserPool) => Promise<T>,
): Promise<T> {
  const { executablePath } = await ensureChromium(settings, report);
  const leaseDirectory = join(settings.home, 'browsers');
  const pool = new BrowserPool({ executablePath, leaseDirectory, processes });
  await pool.start();
  try {
    return await act(pool);
  } finally {
    await pool.close();
  }
}
