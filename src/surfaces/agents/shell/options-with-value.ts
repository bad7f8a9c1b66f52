/**
 * Options that take the next word, of programs whose sub-commands decide what they do. A word after
 * an option that is not here may be its value or the sub-command, and is read as both.
 */
const table = `
npm --workspace -w --prefix -C --tag --registry --cache --userconfig --loglevel --access --otp
pnpm --filter -F --dir -C --reporter --loglevel --workspace-concurrency --registry --tag --access
yarn --cwd --registry --tag --access
bun --cwd --filter -F --registry --tag --access
cargo --manifest-path --target --target-dir --color --config -Z -C --package -p --registry --index
docker --config -c --context -H --host -l --log-level --tlscacert --tlscert --tlskey
docker-compose -f --file -p --project-name --env-file --profile --project-directory
podman --connection -c --url --identity --log-level --root --runroot
kubectl -n --namespace --context --kubeconfig --cluster --user -s --server --token -f -l -o
helm -n --namespace --kube-context --kubeconfig --set -f --values
gh -R --repo --hostname
glab -R --repo
aws --profile --region --output --endpoint-url --query
gcloud --project --account --configuration --format
heroku -a --app -r --remote
redis-cli -h -p -a -n -u --user --pass -s -i -r
mysqladmin -u --user -h --host -P --port
go -C
uv --directory --project --python --config-file --index-url --cache-dir
pip --python --log --proxy --timeout --cache-dir
prisma --schema
systemctl -H --host -M --machine -t --type
unzip -d -x -P
git-lfs --git-dir
`;

export const optionsWithValue: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  table
    .trim()
    .split('\n')
    .map((line) => {
      const [program = '', ...options] = line.split(' ');
      return [program, new Set(options)];
    }),
);
