import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { TemporalConnection } from '../workers/settings.ts';

const RETENTION = '90 days';

/** Numbers of `temporal.api.enums.v1.IndexedValueType`, which the client packages do not export. */
const KEYWORD = 2;
const INT = 3;

export const SEARCH_ATTRIBUTES: Readonly<Record<string, number>> = {
  CliftRun: KEYWORD,
  CliftKind: KEYWORD,
  CliftPhase: KEYWORD,
  CliftTask: KEYWORD,
  CliftOutcome: KEYWORD,
  CliftPolicy: KEYWORD,
  CliftCodeVersion: KEYWORD,
  CliftTrainingStep: INT,
};

/** Keeps closed workflows for 90 days; the development server's own default is one day. */
export async function raiseRetention(address: string, namespace: string): Promise<void> {
  await withConnection({ address }, async ({ workflowService }) => {
    const { config } = await workflowService.describeNamespace({ namespace });
    const workflowExecutionRetentionTtl = msToTs(RETENTION);
    await workflowService.updateNamespace({
      namespace,
      config: { ...config, workflowExecutionRetentionTtl },
    });
  });
}

/**
 * Adds the search attributes that the namespace lacks. The server's own flag for it works only while it
 * creates the namespace, so a later version's new attribute would never arrive.
 */
export async function addSearchAttributes(connection: TemporalConnection, namespace: string): Promise<void> {
  await withConnection(connection, async ({ operatorService }) => {
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !(name in (customAttributes ?? {})));
    if (missing.length === 0) return;
    await operatorService.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(missing) });
  });
}

/** Whether a Temporal server answers at the address; connecting asks for its system info. */
export async function isTemporalAnswering(connection: TemporalConnection): Promise<boolean> {
  try {
    await withConnection(connection, async () => {});
    return true;
  } catch {
    return false;
  }
}

async function withConnection(
  connection: TemporalConnection,
  action: (client: Connection) => Promise<void>,
): Promise<void> {
  const client = await Connection.connect({ ...connection, connectTimeout: '5s' });
  try {
    await action(client);
  } finally {
    await client.close();
  }
}
