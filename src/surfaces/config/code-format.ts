/** The key `code` of a file: the option of sessions of the same name. */
import * as z from 'zod';
import { count, milliseconds, oneOf, strict, text } from './value-formats.ts';

const whole = (least: number, most: number) => z.int().gte(least).lte(most);

export const codeEntry = oneOf(
  [
    z.boolean(),
    strict({
      name: text
        .max(64, 'expected a name of at most 64 characters')
        .optional()
        .describe('The name of the tool that runs programs. Default: run_code.'),
      show: z
        .enum(['code', 'both'])
        .optional()
        .describe(
          'What models are shown: the tool in place of those that programs call, or both. ' +
            'Default: code.',
        ),
      timeoutMs: milliseconds
        .optional()
        .describe(
          'Milliseconds that a program may take with its calls, without the time in which a ' +
            'person is asked. Default: 30000.',
        ),
      cpuMs: milliseconds
        .optional()
        .describe('Milliseconds that a program may compute by itself. Default: 5000.'),
      memoryMb: whole(16, 1_024).optional().describe('Megabytes of memory. Default: 64.'),
      maxCalls: whole(1, 10_000)
        .optional()
        .describe('How many calls a program may make. Default: 100.'),
      maxParallel: whole(1, 100)
        .optional()
        .describe('How many of its calls run at once. Default: 8.'),
      maxSourceChars: whole(1, 1_000_000)
        .optional()
        .describe('The longest program, in characters. Default: 65536.'),
      maxDeclarationTokens: count
        .gte(100)
        .optional()
        .describe(
          'The most tokens of the declarations of tools, at four characters a token. ' +
            'Default: 8000.',
        ),
      journalTtlMs: count
        .gte(60_000)
        .optional()
        .describe(
          'Milliseconds for which the journal of a program is kept: as long as people may take ' +
            'to answer its questions. Default: 86400000, a day.',
        ),
    }),
  ],
  'true, false or an object of options',
);

export type CodeEntry = z.infer<typeof codeEntry>;
