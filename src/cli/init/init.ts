/** `init`: a small project to start from, with one governed tool. */
import { messageOf } from '../../values/errors/index.ts';
import type { Command } from '../command.ts';
import { failure, usageFault } from '../fault.ts';
import { printable } from '../printable.ts';
import { createProject } from './create-project.ts';
import { nextCommands, starterFiles } from './starter.ts';

export const init: Command = {
  name: 'init',
  usage: '[DIR]',
  summary: 'write a small project to start from: a tool, a profile with a rule, a test',
  notes: [
    'DIR is the folder of the project. It is created if it does not exist. Default: this folder.',
    'If one of the files exists already, nothing is written and the exit code is 1.',
  ],
  options: [],
  operands: ['[DIR]'],
  async run({ io, operands: [given = '.'] }) {
    // An empty text can come from an unset variable of a shell script. It must not mean this
    // folder.
    if (given === '') throw usageFault('Expected DIR to be a path, got an empty text.');
    const { folder, files } = await createProject(io.cwd, given, starterFiles).catch(
      (error: unknown) => {
        throw failure(messageOf(error));
      },
    );
    const next = given === '.' ? nextCommands : [`cd ${quoted(given)}`, ...nextCommands];
    const lines = [
      `Created in ${given === '.' ? 'this folder' : printable(given)}:`,
      ...files.map((file) => `  ${file}`),
      '',
      'Next:',
      ...next.map((command) => `  ${printable(command)}`),
    ];
    return { exit: 0, text: lines.join('\n'), json: { folder, files, next } };
  },
};

/** A path as a shell takes it. */
function quoted(path: string): string {
  return /^[\w./\\:@+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
