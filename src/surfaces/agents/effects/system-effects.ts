/** Commands that change files or the machine. Data only: `match.ts` reads it. */
import type { EffectRow } from './effect.ts';

export const systemEffects: readonly EffectRow[] = [
  [
    'deletes',
    'removes files',
    `shred|srm|wipe|rimraf|remove_directory|remove|del-cli|trash|trash-put|rmtrash; gio trash|remove
     bfs -delete; rsync =--del|--dele*|--remove-s*
     zip --move|-m; 7z|7za|7zz|7zr =-sdel; tar|gtar|bsdtar --remove-files
     fdupes --delete|-d; rename|prename|mmv|vidir|detox; tmpreaper|tmpwatch`,
  ],
  [
    'changes-system',
    'acts with other rights, or changes rights and owners',
    `sudo|doas|su|pkexec|runuser|gosu|su-exec|sudoedit|visudo|run0
     chmod -R|--recursive; chmod =777|666|0777|0666|*o+w*|*a+w*|*+s*|4???|2???|6???|a+rwx
     chown|chgrp|chattr|chflags|setfacl|setcap|chcon|setenforce
     passwd|chpasswd|chsh|chfn|useradd|usermod|userdel|adduser|deluser|groupadd|groupdel|groupmod
     gpasswd|vipw|dscl|sysadminctl`,
  ],
  [
    'changes-system',
    'ends processes',
    `killall|pkill|xkill|skill|killall5|fkill|kill-port; fuser --kill|-k`,
  ],
  [
    'changes-system',
    'changes services, timetables, disks or settings of the machine',
    `systemctl|service|rc-service|rc-update|chkconfig|update-rc.d|initctl|sv|launchctl
     supervisorctl|pm2; crontab !-l; at|batch|atrm|systemd-run
     mount +; umount +
      losetup|swapon|swapoff|mknod|modprobe|insmod|rmmod|sysctl|kexec|grub-install
     efibootmgr|nvram|bless|csrutil|spctl|pmset|scutil|networksetup|systemsetup|tccutil|hdiutil
     shutdown|reboot|halt|poweroff|telinit; dd|truncate|fallocate
     iptables|ip6tables|nft|ufw|firewall-cmd|pfctl|ipset|nmcli|wg|wg-quick|openvpn
     route|ifconfig +
     ip link|addr|address|route add|del|delete|set|flush|change|replace|exec
      ip rule|netns|neigh|tunnel add|del|delete|set|flush|change|replace|exec
     hostnamectl|timedatectl|localectl set-hostname|set-time|set-timezone|set-locale|set-ntp
     date --set|-s; hwclock; journalctl --vacuum-size|--vacuum-time|--rotate|--flush
     osascript|automator|shortcuts|xdotool|ydotool|cliclick|screencapture`,
  ],
  [
    'harmless',
    'only looks',
    `systemctl|service status|is-active|is-enabled|list-units|list-unit-files|show|cat
     pm2 ls|list|status|logs; launchctl list|print; hdiutil info
     supervisorctl status`,
  ],
  [
    'unpacks',
    'writes files that the line does not name',
    `patch; unzip !-l !-t !-Z !-v; cpio -i|-p|--extract|--pass-through
     7z|7za|7zz|7zr|unrar|rar x|e; unar|bsdtar|ditto|cabextract|unsquashfs|dpkg-deb
     tar|gtar|star|jar|pax --extract|--get; pax -r
     zipfile|tarfile --extract|-e; svn patch|merge|update|switch|revert
     hg import|update|revert|purge|strip|rollback; jj restore|abandon|undo; quilt push|pop
     unzip -d`,
  ],
];
