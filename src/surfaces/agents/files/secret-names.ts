/** Names of files with secrets, and of examples. Data only: `file-kinds.ts` reads it. */

/** How sure a name makes that a file has secrets. */
export type SecretName =
  /** It is in a folder of secrets. */
  | 'folder'
  /** It has such a name. */
  | 'name'
  /** It has such a name, unless it is code. */
  | 'data';

/** Secrets, by the usual names of frameworks, clouds and tools. */
export const secretNames: readonly (readonly [SecretName, string])[] = [
  [
    'folder',
    `.ssh/** .aws/** .azure/** .gnupg/** .kube/** .docker/** .password-store/** .config/gcloud/**
    .config/gh/** .config/hub .config/glab-cli/** .config/op/** .config/rclone/** .config/doctl/**
    .config/heroku/** .config/sops/** .config/configstore/** .config/stripe/** .config/netlify/**
    .config/fly/** .config/firebase/** .config/github-copilot/** .fly/** .terraform.d/** .oci/**
    .bluemix/** .aliyun/** .tccli/** .doctl/** .railway/** .local/share/keyrings/**
    library/keychains/** .electrum/** .bitcoin/** .ethereum/keystore/** host-tools/gateway/**
    .supabase/access-token .config/solana/** .foundry/keystores/** .near-credentials/**
    .config/ngrok/** .ssh2/** .putty/** .config/bitwarden?cli/** .config/anthropic/**
    .config/openai/** .local/share/kwalletd/** /etc/networkmanager/system-connections/**
    playwright/.auth/** .snowflake/** .snowsql/** .cloudflared/** .wrangler/config/**
    .subversion/auth/** /run/secrets/** /var/run/secrets/** .slack/** .ngrok2/**`,
  ],
  [
    'name',
    `.env .env.* .env-* .env_* .dev.vars .dev.vars.* .pgpass pgpass.conf .my.cnf .mylogin.cnf
    .netrc _netrc .git-credentials .npmrc .pypirc .vault-token .s3cfg .boto .dockercfg .htpasswd
    htpasswd .vault_pass* .vault-pass* vault_pass* .secret .secrets .password .passwords
    kubeconfig kubeconfig.* *.kubeconfig .terraformrc terraform.rc terraform.tfstate
    terraform.tfstate.* *.tfstate *.tfstate.* *.tfvars *.tfvars.json .composer/auth.json
    composer/auth.json .gem/credentials .cargo/credentials .m2/settings.xml
    .m2/settings-security.xml .gradle/gradle.properties .nuget/nuget.config .codex/auth.json
    .gemini/oauth_creds.json .claude/.credentials.json .vercel/auth.json .netlify/config.json
    opencode/auth.json pypoetry/auth.toml *.keychain *.keychain-db id_rsa* id_dsa* id_ecdsa*
    id_ed25519* id_xmss* *_rsa *_ed25519 *_ecdsa ssh_host_*_key deploy_key deploy-key *.pem *.key
    *.p12 *.pfx *.p8 *.kdbx *.kdb *.jks *.keystore *.ppk *.pkcs12 *.ovpn *.agekey age.key wg0.conf
    private*.asc secring.* *.kwallet wallet.dat .bash_history .zsh_history .sh_history
    .python_history .psql_history .mysql_history .sqlite_history .rediscli_history
    .node_repl_history .viminfo fish_history .irb_history logins.json key4.db key3.db
    cookies.sqlite login?data cookies.binarycookies /proc/*/environ /proc/*/task/*/environ
    /etc/shadow /etc/shadow- /etc/gshadow /etc/sudoers /etc/master.passwd *.keytab wp-config.php
    .ftpconfig sftp-config.json .remote-sync.json filezilla.xml sitemanager.xml recentservers.xml
    .authinfo .authinfo.gpg .smbcredentials .msmtprc .fetchmailrc .rhosts .xauthority .zhistory
    .lesshst .dbshell .mongorc.js chap-secrets pap-secrets .envrc.* .flaskenv.local *.tfbackend
    key.properties keystore.properties signing.properties sentry.properties settings.local.php
    sftp.json google_accounts.json default/cookies .databrickscfg kaggle.json huggingface/token
    .huggingface/token .sentryclirc .circleci/cli.yml .travis/config.yml`,
  ],
  [
    'data',
    `*.env *.env.* *.env-* *.env_* env.local env.production local.settings.json secret.* secrets.*
    .secrets.* *.secret *.secrets *-secret.* *_secret.* *-secrets.* *_secrets.* client_secret*
    .secret.* secrets/** .secrets/** secret-*.* secret_*.* secrets-*.* secrets_*.* credentials
    credentials.* .credentials .credentials.* *-credentials.* *_credentials.* *credentials.json
    *-credential.* *_credential.* credential.* credentials-* credentials_* passwords passwords.*
    password.* .passwords.* .password.* *passwords.* service-account* service_account*
    serviceaccount* *-service-account* *_service_account* *serviceaccountkey* firebase-adminsdk*
    *-firebase-adminsdk-* *adminsdk*.json gcp-key* gcp_key* gcloud-key* *-key.json *_key.json
    application_default_credentials.json gha-creds-* token.json token.pickle
    access_token* access-token* vault-pass* vault_pass* pass.txt storage_state.json
    storagestate.json cookies.txt cookies.json mnemonic.* recovery-codes* recovery_codes*
    seed-phrase* seed_phrase* wallet.json keystore.json .token .tokens auth.json .auth.json
    *private-key* *private_key* *privatekey* *-kubeconfig* *-token.json *_token.json api-keys.*
    api_keys.* apikeys.* apikey.* api_key.* api-key.*`,
  ],
];

/** Words in a name that say that it is an example. */
export const exampleWords: ReadonlySet<string> = new Set(
  `example examples sample samples template templates tmpl tpl dist default defaults schema dummy
  fake mock placeholder skeleton`.split(/\s+/),
);

/** Folders whose files are made up for tests. */
export const fixtureFolders: ReadonlySet<string> = new Set(
  `fixtures fixture __fixtures__ testdata test-data test_data __mocks__ mocks`.split(/\s+/),
);

/** Halves of keys that anyone may have, and certificates. */
export const publicNames = `
  *.pub *.pub.pem *public*.pem *public*.key pubkey* *_pub.pem *-pub.pem ca.pem ca-*.pem *-ca.pem
  ca_*.pem cacert*.pem ca-bundle* cert.pem *cert.pem *-cert.pem *certs.pem *certificate*.pem
  chain.pem fullchain.pem *.crt.pem *-chain.pem root*.pem *intermediate*.pem`;

/** Endings of code and texts. A module about secrets is no secret. */
export const codeEndings: ReadonlySet<string> = new Set(
  `ts tsx mts cts js jsx mjs cjs py pyi rb go rs java kt kts c h cc cpp hpp cs swift php ex exs
    erl scala clj sh bash zsh fish ps1 lua md mdx rst html css scss vue svelte sql proto graphql
    svg png jpg snap astro adoc tf`.split(/\s+/),
);
