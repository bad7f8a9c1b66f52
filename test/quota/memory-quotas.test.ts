/** Quotas in memory: the contract of every store. */
import { describe, test } from 'vitest';
import { memoryQuotas } from '../../src/index.ts';
import { quotaStoreConformance } from '../../src/testing/index.ts';

describe('the store in memory keeps the contract', () => {
  for (const rule of quotaStoreConformance(() => memoryQuotas())) test(rule.name, rule.run);
});
