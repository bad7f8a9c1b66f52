import { describe, expect, test } from 'vitest';
import { isBranchName, isRevision, isSince } from '../../examples/tools/git/refs.ts';

const injections = [
  '--upload-pack=touch /tmp/x',
  '-c',
  '-ccore.sshCommand=id',
  '--output=x',
  '--exec=id',
  'main;id',
  'main\nid',
  'main\rid',
  'main\0',
  'main id',
  '$(id)',
  '`id`',
  'main|id',
  'main&id',
  '>x',
  '@{-1}',
  '@',
  'main@{upstream}',
  'main..other',
  'main...other',
  '^main',
  ':/fix',
  ':(exclude)x',
  ':readme.txt',
  'main:readme.txt',
  'a//b',
  '/a',
  'a/',
  'a.',
  '.a',
  'a/.b',
  'a.lock',
  'a.lock/b',
  '../a',
  'a\\b',
  'a*',
  'a?',
  'a[b]',
  '',
  'é',
  'ma\u200bin',
  '\u202emain',
  'a'.repeat(201),
];

describe('a ref is an allow-list', () => {
  test.each(injections)('%j is neither a revision nor a branch', (text) => {
    expect(isRevision(text)).toBe(false);
    expect(isBranchName(text)).toBe(false);
  });
  test.each([
    'main',
    'HEAD',
    'HEAD~2',
    'HEAD^',
    'main^^',
    'v1.2.3',
    'fix/a-b_c',
    'origin/main',
    'refs/heads/main',
    '0123456789abcdef0123456789abcdef01234567',
    'c++',
  ])('%j is a revision', (text) => {
    expect(isRevision(text)).toBe(true);
  });
  test.each(['HEAD', 'HEAD~2', 'refs/heads/main', 'main^'])('%j is no branch name', (text) => {
    expect(isBranchName(text)).toBe(false);
  });
});

describe('since is a date or an age', () => {
  test.each(['2026-01-31', '2026-01-31T12:00:00Z', '3 days ago', '1 hour ago'])('%j is', (text) =>
    expect(isSince(text)).toBe(true),
  );
  test.each([
    'yesterday',
    'last tea time',
    '2026-13-01',
    '2026-01-31; id',
    '--all',
    '3 days',
    '',
    '99999 days ago',
    '2026-01-31\n',
  ])('%j is not', (text) => expect(isSince(text)).toBe(false));
});
