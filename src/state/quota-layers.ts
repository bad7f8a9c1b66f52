/** The quotas of a registry, in the order in which they were added. */
import type { CompiledQuota, Quota } from '../policy/quota.ts';
import { compileQuotas } from '../policy/quotas.ts';

export class QuotaLayers {
  #all: readonly CompiledQuota[];

  constructor(quotas: readonly Quota[]) {
    this.#all = compileQuotas(quotas, 'registry');
  }

  get all(): readonly CompiledQuota[] {
    return this.#all;
  }

  /** Takes over the quotas of another registry, without their counts. */
  takeOver(other: QuotaLayers): void {
    this.#all = other.all;
  }

  /** Adds quotas after the existing ones. The returned function removes them. */
  add(quotas: readonly Quota[]): () => void {
    const ids = new Set(this.#all.map(({ id }) => id));
    const added = new Set(compileQuotas(quotas, 'registry', ids));
    this.#all = [...this.#all, ...added];
    return () => {
      this.#all = this.#all.filter((one) => !added.has(one));
    };
  }
}
