import type { BrowserActivities } from '../contracts.ts';
import { withHeartbeat } from '../heartbeat.ts';
import type { BrowserParts } from './parts.ts';
import { PolicyCache } from './policy-cache.ts';
import { rollOut } from './roll-out.ts';

export function createBrowserActivities(parts: BrowserParts): BrowserActivities {
  const policies = new PolicyCache(parts.policiesFor, parts.store.blobs);
  return {
    rollOut: (input) => withHeartbeat((signal) => rollOut(parts, policies, input, signal)),
  };
}
