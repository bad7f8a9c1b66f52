import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { programUrl } from '../../runner/programs.ts';
import { attacks, launch } from './attacks.ts';

describe('hostile schemas and arguments end closed, and within the time of a test', () => {
  for (const attack of attacks) {
    test(
      `${attack.name}: from outside ${attack.outside}, as the host's own ` +
        `${attack.trusted ?? attack.outside}`,
      () => {
        for (const trusted of [false, true]) {
          const outcome = launch(attack, trusted);
          expect({ trusted, outcome }).toEqual({
            trusted,
            outcome: trusted ? (attack.trusted ?? attack.outside) : attack.outside,
          });
        }
      },
    );
  }

  test('all of it works where generating code from strings is forbidden', () => {
    const code = `
      import { attacks, launch } from ${JSON.stringify(programUrl('test/values/schema/attacks.ts'))};
      let refusesCode = false;
      try { new Function('return 1')(); } catch { refusesCode = true; }
      const wrong = attacks.filter((attack) => launch(attack, false) !== attack.outside || launch(attack, true) !== (attack.trusted ?? attack.outside));
      console.log(JSON.stringify({ refusesCode, ran: attacks.length, wrong: wrong.map(({ name }) => name) }));
    `;
    const child = spawnSync(
      process.execPath,
      ['--disallow-code-generation-from-strings', '--input-type=module', '--eval', code],
      {
        encoding: 'utf8',
        timeout: 170_000,
      },
    );
    expect(child.stderr).toBe('');
    expect(JSON.parse(child.stdout)).toEqual({ refusesCode: true, ran: attacks.length, wrong: [] });
  });
});
