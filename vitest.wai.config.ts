/**
 * `npm run test:wai`: tests that need a checkout of WebArena-Infinity (CLIFT_WAI_ROOT). Without one nothing runs and
 * nothing fails, unless `-- --passWithNoTests=false` asks for it.
 */
import { defineConfig } from 'vitest/config';
import usual from './vitest.config.ts';
import { loadSettings } from './workers/settings.ts';

const hasCheckout = loadSettings().waiRoot !== undefined;
if (!hasCheckout) {
  console.log(
    'There is no checkout of WebArena-Infinity here, so nothing is tested: set CLIFT_WAI_ROOT to one.',
  );
}

export default defineConfig({
  test: {
    ...usual.test,
    include: hasCheckout ? ['test/**/*.wai.ts'] : [],
    passWithNoTests: true,
    ...(!hasCheckout && { globalSetup: [] }),
  },
});
