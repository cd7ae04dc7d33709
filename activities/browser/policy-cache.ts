import type { BlobStore } from '../../bank-store/contract.ts';
import type { Policy, PolicyFactory } from '../../models/contract.ts';
import { readBasis } from '../basis.ts';
import type { ModelChoice } from '../model-config.ts';

/** A group's rollouts share one adapter, a shard's next training step brings another. */
const KEPT = 4;

/** Opened policies by model and adapter; the one that was not asked for longest goes first. */
export class PolicyCache {
  readonly #policiesFor: (choice: ModelChoice) => PolicyFactory;
  readonly #blobs: BlobStore;
  readonly #opened = new Map<string, Promise<Policy>>();

  constructor(policiesFor: (choice: ModelChoice) => PolicyFactory, blobs: BlobStore) {
    this.#policiesFor = policiesFor;
    this.#blobs = blobs;
  }

  /** Without an adapter: the base model. */
  async open(choice: ModelChoice, adapterDigest: string | null): Promise<Policy> {
    const key = JSON.stringify([choice, adapterDigest]);
    const policy = this.#opened.get(key) ?? this.#load(choice, adapterDigest);
    this.#opened.delete(key);
    this.#opened.set(key, policy);
    for (const oldest of this.#opened.keys()) if (this.#opened.size > KEPT) this.#opened.delete(oldest);
    try {
      return await policy;
    } catch (error) {
      this.#opened.delete(key);
      throw error;
    }
  }

  async #load(choice: ModelChoice, adapterDigest: string | null): Promise<Policy> {
    return this.#policiesFor(choice).open(
      adapterDigest === null ? null : await readBasis(this.#blobs.get(adapterDigest)),
    );
  }
}
