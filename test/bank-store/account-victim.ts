/** A worker that dies while its request is at the provider: enters, says so, and never leaves. */
import { createBankStore } from '../../bank-store/index.ts';

const [databaseUrl = '', blobDirectory = '', account = '', leaseMs = ''] = process.argv.slice(2);
const store = await createBankStore({ databaseUrl, blobDirectory, ticketLeaseMs: Number(leaseMs) });
const limits = { concurrency: 1, requestsPerMinute: null, tokensPerMinute: null };
await store.providerGate(account, limits).enter(1, AbortSignal.timeout(60_000));
process.stdout.write('entered\n');
await new Promise(() => undefined);
