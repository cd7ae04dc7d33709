/** A process that dies while it executes a model call: says so when it has begun, then never returns. */
import { createBankStore } from '../../bank-store/index.ts';
import { victimCall, victimRequest } from './victim-call.ts';

const [databaseUrl = '', blobDirectory = '', callLeaseMs = ''] = process.argv.slice(2);
const store = await createBankStore({ databaseUrl, blobDirectory, callLeaseMs: Number(callLeaseMs) });
await store.callOnce(victimCall, victimRequest, () => {
  process.stdout.write('executing\n');
  return new Promise(() => undefined);
});
