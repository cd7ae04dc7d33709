import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import type { TemporalConnection } from '../workers/settings.ts';

const RETENTION = '90 days';

/** Numbers of `temporal.api.enums.v1.IndexedValueType`, which the client packages do not export. */
const INDEXED_VALUE_TYPES = { Keyword: 2, Int: 3 } as const;

const SEARCH_ATTRIBUTES: Readonly<Record<string, keyof typeof INDEXED_VALUE_TYPES>> = {
  CliftRun: 'Keyword',
  CliftKind: 'Keyword',
  CliftPhase: 'Keyword',
  CliftTask: 'Keyword',
  CliftOutcome: 'Keyword',
  CliftPolicy: 'Keyword',
  CliftCodeVersion: 'Keyword',
  CliftTrainingStep: 'Int',
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
    const missing = await missingAttributes(operatorService, namespace);
    if (missing.length === 0) return;
    const searchAttributes = Object.fromEntries(
      missing.map(([name, type]) => [name, INDEXED_VALUE_TYPES[type]]),
    );
    await operatorService.addSearchAttributes({ namespace, searchAttributes });
  });
}

/** The commands, for somebody with the rights, that add what the namespace lacks. Throws when no server answers. */
export function searchAttributeCommands(
  connection: TemporalConnection,
  namespace: string,
): Promise<string[]> {
  return withConnection(connection, async ({ operatorService }) => {
    const missing = await missingAttributes(operatorService, namespace);
    const command = `temporal operator search-attribute create --address ${connection.address} --namespace ${namespace}`;
    return missing.map(([name, type]) => `${command} --name ${name} --type ${type}`);
  });
}

async function missingAttributes(operatorService: Connection['operatorService'], namespace: string) {
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  return Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !(name in (customAttributes ?? {})));
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

async function withConnection<T>(
  connection: TemporalConnection,
  action: (client: Connection) => Promise<T>,
): Promise<T> {
  const client = await Connection.connect({ ...connection, connectTimeout: '5s' });
  try {
    return await action(client);
  } finally {
    await client.close();
  }
}
