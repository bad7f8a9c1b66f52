/** `validate`: checks that files of tools load, and that the tools keep to the contract. */
import type { Command } from '../command.ts';
import { untilInterrupted } from '../fault.ts';
import { readConfig } from '../read-text.ts';
import { checkSource, moduleOf } from '../sources.ts';

export const validate: Command = {
  name: 'validate',
  usage: 'FILE... [--host-tools-module MOD]',
  summary: 'check that tool files load, and that the tools keep their contract',
  notes: [
    'FILE is a module, a directory with a package.json, or a YAML or JSON file. Modules are ' +
      'imported and run, so validate only what you would also load.',
    'Tools are called with input that their own schema refuses, to check that they never throw. ' +
      '--no-calls skips this.',
    'The exit code is 1 if a check of severity error fails. --timeout-ms limits each import and ' +
      'call; default 5000.',
    'If the profiles of a YAML or JSON file name tools that your code registers, give the module ' +
      'of the code with',
    '--host-tools-module. It is loaded first, and not checked.',
    'A `mount` gets the configuration of --config, or {} without it.',
  ],
  options: ['host-tools-module', 'config', 'timeout-ms', 'no-calls'],
  wording: {
    'host-tools-module': {
      value: 'MOD',
      repeatable: true,
      help: 'count the tools of this module, a path or a package, as known; repeatable',
    },
    'timeout-ms': {
      value: 'N',
      help: 'wait at most N milliseconds for each import and call; default 5000',
    },
  },
  operands: ['FILE'],
  many: true,
  async run({ io, options, operands }) {
    // Before any module runs.
    const config = await readConfig(options.config, io);
    for (const source of options.sources) await checkSource(source, io);
    const { formatValidateReport, validateFiles } = await import('./validate.ts');
    const wanted = {
      cwd: io.cwd,
      timeoutMs: options.timeoutMs,
      behaviour: options.calls,
      config,
      modules: options.sources.map(({ name }) => moduleOf(name, io.cwd)),
      signal: io.signal,
    };
    const report = await untilInterrupted(validateFiles(operands, wanted), io.signal);
    return { exit: report.passed ? 0 : 1, text: formatValidateReport(report), json: report };
  },
};
