import type { BlobStore } from '../../bank-store/contract.ts';
import type { Policy, PolicyFactory } from '../../models/contract.ts';

/** A group's rollouts share one adapter, a shard's next training step brings another. */
const KEPT = 4;

/** Opened policies by the digest of their adapter; the one that was not asked for longest goes first. */
export class PolicyCache {
  readonly #factory: PolicyFactory;
  readonly #blobs: BlobStore;
  readonly #opened = new Map<string | null, Promise<Policy>>();

  constructor(factory: PolicyFactory, blobs: BlobStore) {
    this.#factory = factory;
    this.#blobs = blobs;
  }

  /** Null: the base model without an adapter. */
  async open(adapterDigest: string | null): Promise<Policy> {
    const policy = this.#opened.get(adapterDigest) ?? this.#load(adapterDigest);
    this.#opened.delete(adapterDigest);
    this.#opened.set(adapterDigest, policy);
    for (const digest of this.#opened.keys()) if (this.#opened.size > KEPT) this.#opened.delete(digest);
    try {
      return await policy;
    } catch (error) {
      this.#opened.delete(adapterDigest);
      throw error;
    }
  }

  async #load(adapterDigest: string | null): Promise<Policy> {
    return this.#factory.open(adapterDigest === null ? null : await this.#blobs.get(adapterDigest));
  }
}
