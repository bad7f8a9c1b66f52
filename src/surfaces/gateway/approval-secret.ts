/**
 * The key that signs kept approvals. It is created once, and read by every process that shares the
 * folder.
 */
import { join } from 'node:path';
import { privateKey } from '../../values/files/private-file.ts';

/**
 * The key in the file `secret` of a folder. It is created if there is none.
 * @throws Error if others can use the file, or if it has something else in it
 */
export function approvalSecret(folder: string): Buffer {
  return privateKey(
    join(folder, 'secret'),
    'Delete it and start again. Calls that wait for approval can then not be answered',
  );
}
