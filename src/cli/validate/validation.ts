/** `validate`: checks that files of tools load, and that the tools keep to the contract. */
import type { Command } from '../command.ts';
import { untilInterrupted } from '../fault.ts';
import { readConfig } from '../read-json.ts';

export const validate: Command = {
  name: 'validate',
  usage: 'FILE...',
  summary: 'check that tool files load, and that the tools keep their contract',
  notes: [
    'FILE is a module, a directory with a package.json, or a YAML or JSON file. Modules are ' +
      'imported and run, so validate only what you would also load.',
    'Tools are called with input that their own schema refuses, to check that they never throw. ' +
      '--no-calls skips this.',
    'The exit code is 1 if a check of severity error fails. --timeout-ms limits each import and ' +
      'call; default 5000.',
    'A `mount` gets the configuration of --config, or {} without it.',
  ],
  options: ['config', 'timeout-ms', 'no-calls'],
  operands: ['FILE'],
  many: true,
  async run({ io, options, operands }) {
    // Before any module runs.
    const config = await readConfig(options.config, io);
    const { formatValidateReport, validateFiles } = await import('./validate.ts');
    const wanted = {
      cwd: io.cwd,
      timeoutMs: options.timeoutMs,
      behaviour: options.calls,
      config,
      signal: io.signal,
    };
    const report = await untilInterrupted(validateFiles(operands, wanted), io.signal);
    return { exit: report.passed ? 0 : 1, text: formatValidateReport(report), json: report };
  },
};
