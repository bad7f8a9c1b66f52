/** Prints the ten slowest test files at the end of a run, so that slowness is seen when it comes. */
import type { Reporter, TestModule } from 'vitest/node';

const most = 10;

export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const timed = modules.map((module) => {
      const { duration, collectDuration } = module.diagnostic();
      return { file: module.relativeModuleId, seconds: (duration + collectDuration) / 1_000 };
    });
    if (timed.length <= most) return;
    timed.sort((one, other) => other.seconds - one.seconds);
    const lines = timed
      .slice(0, most)
      .map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`);
    process.stdout.write(`\nThe ${most} slowest files:\n${lines.join('\n')}\n`);
  }
}
