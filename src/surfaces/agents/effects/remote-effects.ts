/** What programs do over a network, and those that install packages. */
import type { EffectRow } from './effect.ts';

/** Commands that reach other machines or print secrets. Data only: `match.ts` reads it. */
export const networkEffects: readonly EffectRow[] = [
  [
    'connects',
    'reaches another machine',
    `fetch|lwp-request|lwp-download|lwp-mirror|GET|POST|HEAD
     aria2c|xh|http|https|httpie|curlie|lynx|w3m|links|elinks|nc|ncat|netcat|socat|telnet|ftp|lftp
     tftp|sftp|scp|rcp|ssh|autossh|sshfs|mosh|rsh
      rlogin|rclone|axel|httrack|wget2|unison|svn|cvs|fossil
     aws|gcloud|gsutil|bq|az|heroku|vercel
      netlify|fly|flyctl|firebase|wrangler|doctl|linode-cli|hcloud
     scw|oci|ibmcloud|aliyun|railway|supabase|pscale|turso|neonctl|stripe|twilio|sentry-cli
     snyk|sonar-scanner|codecov|datadog-ci
     host|nslookup|dig|drill|delv|kdig|doggo
      resolvectl|getent|whois|ping|ping6|fping|hping3|arping
     traceroute|traceroute6|tracepath|mtr|nmap|masscan|ssh-keyscan|ssh-copy-id|ntpdate|sntp
     websocat|wscat|grpcurl|evans|hurl|wrk|ab|hey|k6|vegeta|siege|autocannon|iperf|iperf3
     mail|mailx|s-nail|sendmail|msmtp|mutt|neomutt|swaks|smbclient|finger|irssi|weechat
     cloudflared|ngrok|localtunnel|lt|bore|frpc|tailscale
      zerotier-cli|ttyd|gotty|tmate|upterm|chisel|gost
     croc|wormhole|magic-wormhole|ffsend|transfer|pastebinit|onionshare|onionshare-cli|qrcp|dcp
     mosquitto_pub|mosquitto_sub|nats|kcat|kafkacat|ldapsearch|snmpget|snmpwalk|tcpdump|tshark
     s3cmd|s4cmd|s5cmd|mc|b2|azcopy|duplicity
      curlftpfs|yt-dlp|youtube-dl|ipfs|webtorrent|tor|torify
     crane|skopeo|oras|regctl|regsync; hf|huggingface-cli|kaggle|wandb|mlflow|keybase|fossa
     redis-cli|valkey-cli|keydb-cli -h|-u; twistd|miniserve|simple-http-server
     caddy =file-server|run|start
     slackcat|matrix-commander|telegram-send|signal-cli|apprise|ntfy|notify|pushover
     rsync =*:*; openssl s_client|s_server|ocsp|s_time; hg push|pull|clone|serve|email
     jj git push|fetch|clone; busybox httpd|ftpd|telnetd|wget|nc
     http.server|webbrowser|ftplib|smtplib|urllib|telnetlib|pyftpdlib|smtpd|aiosmtpd; php -S
      ruby -run
     logger --server|-n|--port|-P|--tcp|-T|--udp|-d; lp|lpr
     gpg|gpg2 --send-keys|--recv-keys|--search-keys|--refresh-keys|--locate-keys|--fetch-keys
     psql|pg_dump|pg_restore =*host=*
     psql|pg_dump|pg_dumpall|pg_restore|mysql|mysqldump|mongodump|mongoexport --host|-h|--uri`,
  ],
  [
    'prints-secrets',
    'prints variables, which may hold secrets',
    `setenv; npm|yarn|bun|pnpm run|run-script|rum|urn env; direnv export|dump
    launchctl getenv|export
     systemctl show-environment; ps =e*|a*e*|-e*ww*e*
     dotenvx|infisical|doppler|chamber|envchain|aws-vault|teller; heroku config|config:get
     vercel|netlify|railway env|env:get|env:list|variables; docker|podman inspect|config
     gh auth token; gh auth status --show-token|-t
      gcloud auth print-access-token|print-identity-token
     gcloud secrets versions; aws configure get|export-credentials
     aws secretsmanager|ssm|sts|ecr get-*|assume-role|batch-get-secret-value; az keyvault secret
     az account get-access-token; kubectl|oc get|describe|edit secret*|*,secret*
     kubectl|oc get --raw
     kubectl|oc config view --raw; terraform|tofu output|show; terraform|tofu state pull|show
     pulumi config|stack --show-secrets; ansible-vault view|decrypt|edit
     sops decrypt|exec-env|exec-file|edit; sops --decrypt|-d; age|rage --decrypt|-d
     git-crypt unlock|export-key`,
  ],
  [
    'prints-secrets',
    'prints secrets from a store of passwords or keys',
    `pass|gopass|passage|prs|op|bw|rbw
      lpass|keepassxc-cli|dcli|secret-tool|keyring|kwallet-query|keyctl
     gpg|gpg2 --export-secret-keys|--export-secret-subkeys|--decrypt|-d|--export-secret-key-raw
     gpg|gpg2 --export-secret-key-p12|--export-secret-key
     security find-generic-password|find-internet-password|dump-keychain|export|unlock-keychain
     security find-key|find-certificate|add-generic-password|delete-generic-password
     vault|bao read|kv|login|token|print|write|unwrap|operator; consul kv get|export
     git-credential|git-credential-store|git-credential-osxkeychain|git-credential-manager get
      git-credential|git-credential-store|git-credential-osxkeychain|git-credential-manager fill
     docker-credential-desktop|docker-credential-osxkeychain|docker-credential-secretservice get
      docker-credential-desktop|docker-credential-osxkeychain|docker-credential-secretservice list
     openssl pkcs12|rsa|ec|pkey|pkcs8|enc; ssh-keygen -y|-p|-e; wg showconf
      nmcli --show-secrets|-s
     getent shadow|gshadow; keytool -importkeystore|-exportcert; networksetup -getairportnetwork`,
  ],
  [
    'harmless',
    'only shows its version',
    `op|bw|pass|vault|aws|az|gcloud --version 0
      heroku|vercel|netlify|flyctl|firebase|wrangler|doctl --version 0
     stripe|supabase|railway|psql|mysql|ssh|svn|rclone --version 0; ssh -V 0`,
  ],
];

/** Commands of package managers, registries and hosting. Data only: `match.ts` reads it. */
export const packageEffects: readonly EffectRow[] = [
  [
    'publishes',
    'publishes a package, or changes one that is published',
    `npm|pnpm|yarn|bun publish|unpublish|deprecate|undeprecate
      npm|pnpm|yarn|bun owner|author|access|dist-tag|dist-tags
     npm|pnpm|yarn|bun team|org|stage
     npm tag; yarn tag add|remove
     lerna publish|version; changeset publish; nx release; rush publish; turbo run publish
     np|semantic-release|release-it|goreleaser|release-plz|cargo-release|jreleaser
     jsr|deno publish; vsce|ovsx publish|unpublish; web-ext sign|submit; clasp push|deploy
     cargo publish|yank|owner|release; gem push|yank|owner; rake =release|release:*
     cargo workspaces|ws publish; cargo smart-release; cargo workspaces|ws release; cross publish
     twine upload|register; setup.py =upload|register; python =upload|register =*setup.py
     poetry|flit|pdm|hatch|uv|rye|maturin publish|upload; anaconda upload
     mvn|mvnw =deploy|deploy:*|site-deploy|release:*|*:deploy*|*:release*|jib:build
     sbt|lein|mill =publish*|+publish*|*/publish*|*.publish*|deploy|release
     gradle|gradlew =publish*|*:publish*|*upload*|*:release|*releaserepository|jib|*:jib
     dotnet nuget push|delete; nuget push|delete; pod trunk; pod repo push
     mix =hex.publish*|hex.retire; rebar3 hex publish|cut; swift package-registry publish
     nimble publish; dune-release; ko publish|build|resolve
     expo publish; dart|flutter pub publish|lish; pub publish|lish
     luarocks|cabal|stack upload; helm push; oras|crane|skopeo|cosign push|copy|sync|delete|sign
     docker|podman|nerdctl|buildah push; docker|podman image|manifest push
     docker|podman build --push; docker|podman buildx build --push; docker-compose push
     eas submit|update; fastlane; regctl|crane =push|copy|cp|delete|put|mod; dvc push
     hf|huggingface-cli upload
     wandb sync; kaggle + + create|version
     npm|pnpm|yarn|bun run|run-script|rum|urn publish*|deploy*|*:publish|*:deploy
     npm|pnpm|yarn|bun run|run-script|rum|urn release; pnpm|yarn|bun release|deploy*
     make|just|task|invoke|inv|mage =publish*|deploy*|*:publish|*:deploy|*-deploy|*-publish
     altool|notarytool; xcrun altool|notarytool`,
  ],
  [
    'publishes',
    'deploys, or changes what is deployed',
    `vercel|vc deploy|rm|remove|promote|rollback|alias|env|domains|dns|redeploy
     vercel|vc --prod; vercel|vc 0
     netlify|ntl deploy|sites:delete|env:set|env:unset|api
     wrangler deploy|publish|delete|rollback|secret|kv|r2|d1|pages|queues
     firebase deploy|hosting:clone|functions:config:set
     dokku|now|render
     fly|flyctl deploy|destroy|scale|secrets|apps|volumes|machine|machines|launch|ips
     heroku apps:destroy|releases:rollback|config:set|pg:reset|ps:scale|addons:destroy|run
     railway up|down|delete|redeploy|run; surge|gh-pages|kamal|cap|capistrano|mina
     gcloud =deploy; supabase functions|db deploy|push; convex deploy|import
     shopify app|theme|hydrogen deploy|push|publish|delete; modal|deployctl deploy`,
  ],
  ['publishes', 'changes something on the web for others', `gh|glab|hub|tea`],
  [
    'harmless',
    'only reads from the web',
    `gh|glab pr|issue|mr|release|repo|run|workflow|label|ci list|view|status|diff|checks|watch
     gh search|status; gh --version; glab --version`,
  ],
  [
    'changes-settings',
    'logs in or out, or changes tokens',
    `npm|pnpm|yarn|bun login|logout|adduser|add-user|token|profile
     cargo|gem|docker|podman|helm|vercel login|logout|signin
      helm registry login|logout
      netlify|heroku|wrangler|firebase|fly|flyctl login|logout|signin
     az|vault|pulumi|terraform|tofu|eas|snyk|huggingface-cli|hf|wandb|supabase|oc login|logout
     gcloud auth login|revoke|activate-service-account|application-default
     aws configure|sso; az account set; docker|podman context use|create|rm
     kubectl config use-context|set-context|set-cluster|set-credentials|set|unset|delete-context`,
  ],
  [
    'changes-settings',
    'changes settings that decide which programs and registries are used',
    `npm|pnpm config|conf|c set|delete|edit|fix|rm; npm|pnpm set; yarn config set|unset|delete
      yarn set
     npm|pnpm pkg set|delete|fix; yarn plugin import|remove; yarn policies; poetry self add|remove
     bundle plugin install; bun pm trust; pnpm approve-builds
     npm|pnpm config|conf|c =*=*
     pip config set|unset|edit; conda|mamba config --add|--set|--remove|--append|--prepend
     poetry config + +; poetry config --unset; poetry source add|remove
     composer config + +; composer config --unset; composer global
     bundle config set|unset; bundle config + +; gem sources --add|-a|--remove|-r; go env -w|-u
     rustup default|override|set|toolchain|target|component|self|update|install|uninstall
     nvm|fnm|n|volta|asdf install|uninstall|global|alias|default|pin|trust
      mise|rbenv|pyenv|nodenv|sdk install|uninstall|global|alias|default|pin|trust
     corepack enable|disable|prepare|use|up|install
     claude|codex|gemini|cursor-agent|opencode|qwen|amp|goose|droid|crush|aider|copilot
     code|code-insiders|cursor|codium|windsurf --install-extension|--uninstall-extension|--add-mcp
     husky|lefthook|pre-commit|prek|overcommit install|uninstall|add|set|init|autoupdate
     husky|simple-git-hooks 0; git-lfs install; host-tools hook|gateway
     ssh-add|ssh-agent|gpgconf; defaults write|delete|import; gsettings set|reset
     dconf write|reset|load; xdg-mime default; update-alternatives`,
  ],
  [
    'harmless',
    'only shows its version',
    `claude|codex|gemini|cursor-agent|opencode|qwen --version 0
      amp|goose|droid|crush|aider|copilot --version 0
     gh|glab|docker|podman|kubectl|terraform --version 0
      helm|vercel|heroku|firebase|wrangler|aws --version 0`,
  ],
  [
    'changes-system',
    'installs or removes programs for the whole user or machine',
    `npm|pnpm|bun install|i|add|update|up|upgrade|link|uninstall|remove|rm|un --global|-g
     npm link|ln; pnpm|bun link; pnpm env use|add|remove; pnpm self-update|setup; bun|deno upgrade
     pip install --user|--break-system-packages|--target|-t|--root|--prefix; easy_install
     ghcup|krew|ansible-galaxy install|rm|remove; zypper in|rm|up|dup; yarn global
     npm|pnpm install|i|add|uninstall --location
     cargo install|uninstall|binstall; go install =*@*; gem install|uninstall|update
     pipx install|uninstall|inject|upgrade|upgrade-all|install-all
      uv tool install|uninstall|upgrade
     uv python install|uninstall; uv self update; dotnet tool install|update|uninstall
     brew install|reinstall|upgrade|uninstall|remove|rm
      brew tap|untap|services|link|unlink|cleanup|bundle
     apt|apt-get|aptitude|dnf|yum install|add|reinstall|remove|del
      zypper|apk|port|pkg|snap|flatpak install|add|reinstall|remove|del
     apt|apt-get|aptitude|dnf|yum|zypper|apk|port|pkg|snap|flatpak purge|uninstall|upgrade|update
     apt|apt-get|aptitude|dnf|yum autoremove|erase|full-upgrade|dist-upgrade|build-dep|downgrade
     pacman|yay|paru -S|-U|-R; emerge; rpm -i|-U|-e|-F; dpkg -i|-r|-P; choco|scoop|winget install
     nix-env -i|-e|-u; nix profile install|remove|upgrade; guix install|remove; xbps-install
     installer|softwareupdate|mas|xcode-select; conda|mamba|micromamba install|update|remove
     cpan|cpanm|cpm; luarocks|opam|raco|stack|cabal|nimble install; mix archive.install
     gh extension install|upgrade; helm plugin install; kubectl krew install; ollama rm`,
  ],
  [
    'fetches-code',
    'fetches code from elsewhere and runs it',
    `pnpm|yarn dlx; pnpm|yarn|bun create; npm|pnpm|bun init|innit|create +; pnpx|uvx|pkgx
     pipx run; uv tool run; uv run --with|--with-requirements|--with-editable
     nix run|shell|develop; nix-shell -p|--packages
      deno run|install|add|x|test =npm:*|jsr:*|http*:*
     deno =npm:*|jsr:*|http*:*; go run =*@*; bun x|run =*@*; bunx --bun
     degit|tiged|giget|cookiecutter|copier|yo|hygen; cargo generate; cargo-generate
      dotnet new install
     pip|uv install|add|download|wheel|sync --index-url|-i|--extra-index-url|--find-links|-f
     pip|uv install|add|download|wheel|sync --index|--default-index|--trusted-host|--proxy
     vcpkg|conan install
     ctr|crictl|singularity|apptainer|buildah run|exec|pull|create|from|bud|build
     terraform|tofu init -from-module; packer init
     npm|pnpm|yarn|bun install|i|add|ci|update|up --registry
     gem|bundle install|add --source|-s; bundle add|install --git|--github
     cargo add|install --git|--registry|--index
     composer create-project; composer require|install|update --repository
     mvn archetype:generate; mix phx.new; act; ollama pull|run; helm repo add; ng|nx add
     docker|podman|nerdctl run|pull|create|load|import; docker-compose|podman-compose run|pull`,
  ],
];
