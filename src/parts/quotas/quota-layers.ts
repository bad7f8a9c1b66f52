/** The quotas of a registry, in the order in which they were added. */

import type { Quota } from '../../api/quotas.ts';
import type { PartSet } from '../../core/part.ts';
import type { CompiledQuota } from './quota.ts';
import { compileQuotas } from './quotas.ts';

export class QuotaLayers {
  #all: readonly CompiledQuota[];
  readonly #parts: PartSet;

  constructor(quotas: readonly Quota[], parts: PartSet) {
    this.#parts = parts;
    this.#all = compileQuotas(quotas, 'registry', parts);
  }

  get all(): readonly CompiledQuota[] {
    return this.#all;
  }

  /** Takes over the quotas of another registry, without their counts. */
  takeOver(other: QuotaLayers): void {
    this.#all = other.all;
  }

  /**
   * Compiles quotas as if they were added.
   * @param ids Those of other quotas.
   * @throws MisuseError `invalid_quota`
   */
  compile(quotas: readonly Quota[], ids: ReadonlySet<string>): readonly CompiledQuota[] {
    return compileQuotas(quotas, 'registry', this.#parts, ids);
  }

  /**
   * Adds quotas after the existing ones. The returned function removes them.
   * @param review Sees the new quotas. If it throws, nothing is added.
   */
  add(quotas: readonly Quota[], review: (added: readonly CompiledQuota[]) => void): () => void {
    const ids = new Set(this.#all.map(({ id }) => id));
    const compiled = this.compile(quotas, ids);
    review(compiled);
    const added = new Set(compiled);
    this.#all = [...this.#all, ...added];
    return () => {
      this.#all = this.#all.filter((one) => !added.has(one));
    };
  }
}
