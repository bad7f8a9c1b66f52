/** Commands that destroy what is not a file of the project. Data only: `match.ts` reads it. */
import type { EffectRow } from './effect.ts';

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
