import { builtinModules } from 'node:module';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';

/** Every cached workflow evaluates the whole bundle; ours without its source map is about 530 KB. */
const LIMIT_BYTES = 700_000;

/**
 * Bundles the workflows as the worker does and says what is wrong with the result: too large, or holding
 * a package that makes each cached workflow several times as large. Empty when nothing is.
 */
export async function examineWorkflowBundle(workflowsPath: string): Promise<string> {
  const errors: string[] = [];
  const logger = new DefaultLogger('ERROR', ({ message }) => errors.push(message));
  try {
    const { code } = await bundleWorkflowCode({ workflowsPath, logger });
    return findBundleProblems(withoutSourceMap(code)).join('\n');
  } catch (error) {
    return [...errors, error instanceof Error ? error.message : String(error)].join('\n');
  }
}

/** What is wrong with a bundle's code, one sentence each. */
export function findBundleProblems(code: string): string[] {
  const problems: string[] = [];
  if (code.length > LIMIT_BYTES) {
    problems.push(`The workflow bundle has ${code.length} bytes, over the limit of ${LIMIT_BYTES}.`);
  }
  for (const name of modulesOf(code)) {
    if (/\/node_modules\/zod\//.test(name)) {
      problems.push(`Workflow code reaches zod (${name}): parse in activities, import only types.`);
    }
    if (builtinModules.includes(name.replace(/^(node:|external )/, ''))) {
      problems.push(`Workflow code reaches the Node module ${name}: move that into an activity.`);
    }
  }
  return problems;
}

function withoutSourceMap(code: string): string {
  return code.replace(/\n\/\/# sourceMappingURL=.*/, '');
}

/** Names of the bundled modules: the keys of webpack's module table. */
function modulesOf(code: string): string[] {
  return [...code.matchAll(/^\/\*\*\*\/ "([^"]+)":?/gm)].flatMap(([, name]) => name ?? []);
}
