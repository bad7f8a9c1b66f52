/** When a hook has a thread that can end it. */
import { expect, test } from 'vitest';
import { hasOnlyLocalDisks } from '../../../src/cli/hook-watch.ts';

const root =
  '27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n22 27 0:21 / /proc rw - proc proc rw\n';

test.each([
  ['local disks', root, true],
  ['optional fields', '36 35 98:0 /a /b rw master:1 shared:2 - tmpfs none rw\n', true],
  ['NFS', `${root}40 27 0:40 / /mnt/x rw - nfs4 server:/x rw\n`, false],
  ['a file system of a program', `${root}40 27 0:40 / /mnt/x rw - fuse.sshfs x rw\n`, false],
  ['mounts that are made when they are used', `${root}40 27 0:40 / /net rw - autofs x rw\n`, false],
  ['an unknown kind', `${root}40 27 0:40 / /mnt/x rw - newfs x rw\n`, false],
  [
    'a folder whose name looks like a kind',
    `${root}40 27 0:40 / /mnt/\\040-\\040ext4 rw - nfs x rw\n`,
    false,
  ],
  ['a line without a kind', `${root}40 27\n`, false],
  ['a system that does not say', '', false],
])('%s', (_, mounts, isLocal) => {
  expect(hasOnlyLocalDisks(mounts)).toBe(isLocal);
});
