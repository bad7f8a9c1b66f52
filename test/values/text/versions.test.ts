import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  compareVersions,
  fitsRange,
  parseRange,
  parseVersion,
  type Version,
  type VersionRange,
} from '../../../src/values/text/versions.ts';
import { cpuMs } from '../../runner/cpu-time.ts';

/** The package that defines what ranges mean. It has no types of its own. */
const semver = createRequire(import.meta.url)('semver') as {
  valid(version: string): string | null;
  compare(left: string, right: string): number;
  satisfies(version: string, range: string): boolean;
};

const version = (text: string): Version => parseVersion(text) as Version;
const range = (text: string): VersionRange => parseRange(text) as VersionRange;

const part = fc.integer({ min: 0, max: 3 }).map(String);
const identifier = fc.constantFrom('0', '1', '10', 'a', 'rc', 'a-b', '-1', '1a');
const pre = fc.array(identifier, { minLength: 1, maxLength: 3 }).map((all) => `-${all.join('.')}`);
const maybe = (text: fc.Arbitrary<string>) => fc.oneof(fc.constant(''), text);
const full = fc
  .tuple(part, part, part, maybe(pre), maybe(fc.constant('+b.1')))
  .map(([a, b, c, qualifier, build]) => `${a}.${b}.${c}${qualifier}${build}`);
const wild = fc.constantFrom('x', 'X', '*');
const partial = fc.oneof(
  full,
  wild,
  part,
  fc.tuple(part, fc.oneof(part, wild)).map((all) => all.join('.')),
  fc.tuple(part, part, wild).map((all) => all.join('.')),
  fc.tuple(part, wild, wild).map((all) => all.join('.')),
);
const operator = fc.constantFrom('', '=', '<', '<=', '>', '>=', '^', '~', '^ ', '>= ', '< ');
const simple = fc.tuple(operator, partial).map((all) => all.join(''));
const set = fc.oneof(
  fc.array(simple, { minLength: 1, maxLength: 3 }).map((all) => all.join(' ')),
  fc.tuple(partial, partial).map((all) => all.join(' - ')),
);
const ranges = fc.array(set, { minLength: 1, maxLength: 3 }).map((all) => all.join(' || '));

describe('versions', () => {
  it('are ordered as the package `semver` orders them', () => {
    fc.assert(
      fc.property(full, full, (left, right) => {
        expect(Math.sign(compareVersions(version(left), version(right)))).toBe(
          semver.compare(left, right),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  it('fit the ranges that they fit for the package `semver`', () => {
    fc.assert(
      fc.property(full, ranges, (one, many) => {
        expect(fitsRange(version(one), range(many))).toBe(semver.satisfies(one, many));
      }),
      { numRuns: 8_000 },
    );
  });

  it('are read only if they are whole', () => {
    for (const text of ['1.2.3', '0.0.0', '1.2.3-rc.1', '1.2.3--', '1.2.3-0a+01'])
      expect([text, parseVersion(text) !== undefined]).toEqual([text, true]);
    for (const text of [
      '',
      '1',
      '1.2',
      '1.2.x',
      'v1.2.3',
      ' 1.2.3',
      '01.2.3',
      '1.2.3-',
      '1.2.3-01',
      '1.2.3+',
      '1.2.3+a+b',
      '1.2.3.4',
      '1.2.1234567890123456',
      `1.2.3-${'a'.repeat(300)}`,
    ])
      expect([text, parseVersion(text)]).toEqual([text, undefined]);
  });

  it('never accept what the package `semver` refuses', () => {
    const noise = fc.array(fc.constantFrom(...'019.-+vxa '), { maxLength: 12 });
    fc.assert(
      fc.property(noise, (characters) => {
        const text = characters.join('');
        if (parseVersion(text) !== undefined) expect(semver.valid(text)).not.toBeNull();
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('ranges', () => {
  it('are refused if a part of them cannot be read', () => {
    for (const text of [
      '',
      ' ',
      '1 ||',
      '|| 1',
      'v1',
      '^',
      '>>1',
      '^^1',
      '1 - 2 - 3',
      '1-2',
      'latest',
      '1.2-rc',
      '1.x.3',
      '1.2.3.4',
      '01',
      `${'1 '.repeat(200)}`,
    ])
      expect([text, parseRange(text)]).toEqual([text, undefined]);
  });

  it('say whether every release fits', () => {
    for (const text of ['*', 'x', '>=0', '>=0.0.0', '^1 || *', '* - *'])
      expect([text, parseRange(text)?.any]).toEqual([text, true]);
    for (const text of ['^1', '>0', '>*', '>=0.0.0-0'])
      expect([text, parseRange(text)?.any]).toEqual([text, false]);
  });

  it('name a pre-release to include those of the same release', () => {
    const fits = (one: string, many: string) => fitsRange(version(one), range(many));
    expect(fits('2.0.0-rc.2', '^2')).toBe(false);
    expect(fits('2.0.0-rc.2', '^2.0.0-rc.1')).toBe(true);
    expect(fits('2.1.0-rc.2', '^2.0.0-rc.1')).toBe(false);
    expect(fits('3.0.0-rc.1', '^2.0.0-rc.1')).toBe(false);
  });

  it('cost little, whatever they are', () => {
    const started = cpuMs();
    for (const text of ['- '.repeat(128), '<'.repeat(256), '1||'.repeat(85), ' '.repeat(256)])
      parseRange(text);
    parseRange('x'.repeat(1_000_000));
    parseVersion('-'.repeat(1_000_000));
    // Quadratic work would take minutes. How long it does take is for the bench to say.
    expect(cpuMs() - started).toBeLessThan(5_000);
  });
});
