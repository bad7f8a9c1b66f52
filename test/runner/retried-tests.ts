/**
 * Prints the tests that passed only when they ran again, with what the first run failed with: such a
 * test depends on more than the code. `.ci/run` names a file in `HOST_TOOLS_RETRIED` that collects
 * them over its steps.
 */
import { appendFileSync } from 'node:fs';
import type { Reporter, TestCase } from 'vitest/node';

export default class RetriedTests implements Reporter {
  readonly #lines: string[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky !== true) return;
    const [error] = test.result().errors ?? [];
    this.#lines.push(
      `  ${test.module.relativeModuleId} > ${test.fullName}: ${error?.message.split('\n')[0]}\n`,
    );
  }

  onTestRunEnd(): void {
    if (this.#lines.length === 0) return;
    const list = this.#lines.splice(0).join('');
    process.stdout.write(`\nPassed only when they ran again:\n${list}`);
    const { HOST_TOOLS_RETRIED: file } = process.env;
    if (file) appendFileSync(file, list);
  }
}
