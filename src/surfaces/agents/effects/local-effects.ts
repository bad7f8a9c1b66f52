/** What programs do on this machine: to its data, its system, and repositories of git. */
import type { EffectRow } from './effect.ts';

/** Commands that destroy what is not a file of the project. Data only: `match.ts` reads it. */
export const dataEffects: readonly EffectRow[] = [
  [
    'destroys-data',
    'destroys or replaces infrastructure, or the record of it',
    `terraform|tofu|terragrunt destroy|apply|taint|force-unlock|import
     terraform|tofu|terragrunt state rm|mv|push|replace-provider
     terraform|tofu|terragrunt workspace delete
     terragrunt run-all|run|stack destroy|apply
     terragrunt destroy-all|apply-all
     pulumi destroy|down|up|update|import|refresh|cancel
     pulumi stack rm; pulumi state delete
     cdk|cdktf destroy|deploy
     sls|serverless|sst|sam|amplify|copilot remove|delete|destroy|deploy|push
     vagrant destroy; packer build; ansible-playbook|ansible
     eb terminate|deploy; eksctl|kops|minikube|kind|k3d delete; k3d cluster delete
     nomad stop|purge; nomad job stop; helm uninstall|delete|del|un|rollback|upgrade|install
     helmfile destroy|delete|apply|sync
     argocd app delete|sync; flux uninstall|delete; velero delete
     kubectl|oc delete|drain|cordon|taint|replace|scale|patch|apply|rollout|edit|set|create|run
     doctl|hcloud|scw|linode-cli|civo|vultr-cli + delete|rm|destroy
     doctl + + delete|rm; hcloud|scw + + delete; velero + delete
     salt|salt-ssh|salt-call|knife|chef-client|chef-solo; puppet apply|agent; ko apply|delete
     virsh destroy|undefine; vboxmanage unregistervm|closemedium
     multipass|limactl|colima delete|purge; lxc|incus delete`,
  ],
  [
    'destroys-data',
    'removes or resets a database, or writes to one',
    `dropdb|dropuser|pg_dropcluster|pg_resetwal
     pg_restore -c|--clean; mongorestore --drop; mysqladmin drop|flush-*|shutdown
     redis-cli|valkey-cli|keydb-cli flushall|flushdb|del|unlink|eval|script|config|shutdown|debug
     redis-cli|valkey-cli|keydb-cli =flushall*|flushdb*; redis-cli|valkey-cli|keydb-cli 0
     redis-cli|valkey-cli|keydb-cli --pipe|-x|--eval|--cluster
     mongosh|mongo|cqlsh|clickhouse-client|influx|cockroach|usql|sqlcmd|sqlplus|isql
     prisma migrate reset; prisma db execute
     prisma db push --force-reset|--accept-data-loss
     knex migrate:rollback|migrate:down
     sequelize|sequelize-cli db:drop|db:migrate:undo|db:migrate:undo:all|db:seed:undo:all
     typeorm|typeorm-ts-node-commonjs|typeorm-ts-node-esm schema:drop|schema:sync|migration:revert
     drizzle-kit drop; drizzle-kit push --force
     mikro-orm schema:drop|schema:fresh|migration:fresh|migration:down
     rails|rake db:drop|db:drop:*|db:reset|db:purge|db:setup|db:schema:load|db:truncate_all
     rails|rake db:migrate:reset|db:rollback|db:seed:replant
     artisan|sail|php =migrate:fresh|migrate:reset|migrate:refresh|migrate:rollback|db:wipe
     php|console|symfony =doctrine:database:drop|doctrine:schema:drop
     django-admin|manage.py|python =flush|reset_db
     alembic downgrade; flask db downgrade; mix =ecto.drop*|ecto.reset*|ecto.rollback*
     diesel database reset; diesel migration revert|redo; sqlx database drop|reset
     sqlx migrate revert
     dbmate drop|down|rollback; migrate =drop|down; flyway clean
     liquibase drop-all|dropall|rollback*
     mvn|mvnw =flyway:clean|liquibase:drop*; gradle|gradlew =*flywayclean|*dropall; hasura migrate
     goose =reset|down|down-to
     supabase db reset; supabase projects|branches delete; atlas schema clean|apply
     dotnet-ef database drop; dotnet ef database drop; hasura metadata clear
     etcdctl del; consul kv delete; rabbitmqadmin delete|purge
     rabbitmqctl reset|force_reset|purge_queue|delete_queue|delete_vhost
     kafka-topics|kafka-topics.sh --delete; rpk topic delete
     pscale|planetscale|neonctl|neon|turso + delete|destroy
     wp db drop|reset|clean|query|import; drush sql-drop|sql:drop|sql-query|sql:query|site:install
     meteor reset; firebase firestore:delete|database:remove|database:set|functions:delete`,
  ],
  [
    'destroys-data',
    'removes containers, images, volumes, disks or backups',
    `docker|podman|nerdctl rm|rmi|kill
     docker|podman|nerdctl container|image|volume|network|system|builder|buildx rm|remove|prune
     podman|nerdctl compose down|rm|kill; docker stack|swarm down|rm|leave
     docker-compose|podman-compose down|rm|kill
     restic forget|prune; borg delete|prune; tmutil delete|disable
     zfs|zpool destroy|rollback; btrfs subvolume delete
     lvremove|vgremove|pvremove|wipefs|mkswap|fdisk
      sfdisk|parted|gdisk|cryptsetup|mdadm|blkdiscard
     mkfs|mkfs.ext4|mkfs.xfs|mkfs.btrfs|mkfs.vfat|mkfs.ext3|mkfs.ntfs|newfs|hdparm
     diskutil erasedisk|erasevolume|partitiondisk|reformat|zerodisk|secureerase|apfs
     aws s3 rm|rb|mv|sync; gsutil rm|rb|mv|rsync; s3cmd|s5cmd|mc del|rm|rb|mv|sync
     aws + delete-*|terminate-*|deregister-*|remove-*|purge-*
     gcloud|az =delete|purge|deallocate`,
  ],
];

/** Commands that change files or the machine. Data only: `match.ts` reads it. */
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

/** Commands of git with an effect. Data only: `match.ts` reads it. */
export const gitEffects: readonly EffectRow[] = [
  [
    'loses-work',
    'throws changes away',
    `git reset --hard|--merge; git mv --force|-f; git checkout --force|-f
    git switch --force|-f|--discard-changes
     git merge|rebase|cherry-pick|revert|am --abort|--skip|--quit; git rm --force|-f
     git submodule deinit --force|-f; git submodule update --force|-f; git stash drop|clear
     git worktree remove|prune; git notes remove|prune
     git notes add|copy --force|-f; git read-tree --reset; git-filter-repo|bfg
     git-lfs prune|migrate; hg|sl revert|update|goto|purge|clean|strip|rollback
     bzr|brz|svn revert`,
  ],
  [
    'loses-work',
    'moves, replaces or deletes branches, tags or other references',
    `git branch --delete|-d|-D|-M|-C|--force|-f; git checkout -B; git switch --force-create|-C
     git tag --delete|-d|--force|-f; git update-ref; git symbolic-ref + +
      git symbolic-ref --delete|-d
     git replace; git fetch|pull --force|-f; git fetch|pull =+*; git fetch|pull --prune|-p =*:*
     git fetch --prune-tags|-P; git worktree add -B|--force|-f
     git remote prune`,
  ],
  [
    'loses-work',
    'rewrites or removes commits',
    `git rebase !--continue !--edit-todo !--show-current-patch; git filter-branch
     git reflog expire|delete; git prune; git gc --prune; git repack --prune-packed|-d`,
  ],
  ['pushes', 'sends work to another repository', 'git push|send-email; git-lfs push'],
  [
    'pushes',
    'changes where work goes',
    'git remote add|set-url|rename|rm|remove|set-branches|set-head; git submodule set-url',
  ],
  [
    'changes-settings',
    'changes when git runs by itself',
    'git maintenance start|stop|register|unregister; scalar register|clone|reconfigure',
  ],
  ['changes-settings', 'moves the repository', 'git init|clone --separate-git-dir'],
  ['unpacks', 'writes files that the line does not name', 'git apply|am'],
];
