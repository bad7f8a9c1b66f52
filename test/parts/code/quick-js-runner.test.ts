import { describe, test } from 'vitest';
import { quickJsRunner } from '../../../src/parts/code/quick-js-runner.ts';
import { codeRunnerConformance } from '../../../src/surfaces/testing/index.ts';

describe('keeps the contract', () => {
  for (const rule of codeRunnerConformance(() => quickJsRunner)) test(rule.name, rule.run);
});
