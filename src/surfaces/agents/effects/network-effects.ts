/** Commands that reach other machines or print secrets. Data only: `match.ts` reads it. */
import type { EffectRow } from './effect.ts';

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
