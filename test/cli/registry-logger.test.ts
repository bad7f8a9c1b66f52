import { expect, test } from 'vitest';
import { registryLogger } from '../../src/cli/registry-logger.ts';
import { MisuseError } from '../../src/index.ts';
import { logTo } from '../../src/values/logging.ts';

test('says once what a function of the host did wrong', () => {
  const lines: string[] = [];
  const screen = { note: (text: string) => void lines.push(text) };
  const logger = registryLogger(screen as never, '/', false);
  const err = new MisuseError('closed', 'The registry is closed.');
  err.stack = '';
  logTo(logger, 'error', { err }, 'a hook threw');
  expect(lines).toEqual(['warning: a hook threw: The registry is closed.']);
});
