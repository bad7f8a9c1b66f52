/**
 * When a hook needs a thread that can end it. Starting one takes a tenth of a hook's time, so a
 * hook whose first thread cannot be held up has none.
 */
import { readFileSync } from 'node:fs';

/** Bytes of an event that takes no time worth speaking of, whatever it contains. */
export const quickBytes = 8_000;

/** File systems that answer at once, or report a fault. All others may wait for something. */
const local = new Set(
  (
    'ext2 ext3 ext4 xfs btrfs zfs f2fs bcachefs jfs reiserfs tmpfs ramfs rootfs ' +
    'overlay aufs squashfs erofs vfat exfat ntfs3 iso9660 udf proc sysfs cgroup ' +
    'cgroup2 devtmpfs devpts mqueue hugetlbfs debugfs tracefs securityfs pstore bpf ' +
    'configfs fusectl binfmt_misc efivarfs nsfs selinuxfs rpc_pipefs'
  ).split(' '),
);

/**
 * Whether every disk is local. False where the system does not say.
 * @param mounts What Linux says of the mounts of this process.
 */
export function hasOnlyLocalDisks(mounts = mountsHere()): boolean {
  const lines = mounts.split('\n').filter((line) => line !== '');
  // A space in a path is written as `\\040`, so ` - ` is found only once.
  const types = lines.map((line) => line.split(' - ')[1]?.split(' ')[0] ?? '');
  return types.length > 0 && types.every((type) => local.has(type));
}

function mountsHere(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}
