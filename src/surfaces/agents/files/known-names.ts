/** The names of files that are guarded or secret. */
import type { FileKind } from './file-kind.ts';

// Names of files that decide something for agents. Data only: `file-kinds.ts` reads it.

/** What decides about the agent, or runs without a question, in any folder. */
export const guardedNames: readonly (readonly [FileKind, string])[] = [
  [
    'guard',
    `.claude/settings*.json .claude/host-tools* .claude/hooks/** .claude/plugins/** .claude.json
    .codex/config.toml .codex/*.config.toml .codex/hooks.json .codex/host-tools* .codex/hooks/**
    .codex/rules/** .codex/requirements.toml .codex/managed_config.toml .gemini/settings.json
    .gemini/host-tools* .gemini/hooks/** .gemini/policies/** .gemini/trustedfolders.json
    .gemini/extensions/** .cursor/hooks.json .cursor/hooks/** .cursor/cli.json
    .cursor/permissions.json .qwen/settings*.json .qwen/hooks/** .qwen/extensions/**
    .qwen/trustedfolders.json .copilot/hooks/** .copilot/settings.json
    .copilot/extensions/** .github/copilot/** .github/extensions/**
    .opencode/plugin/** .opencode/plugins/** .config/opencode/plugin/**
    .config/opencode/plugins/** .kiro/hooks/** .factory/settings.json
    .factory/hooks/** .windsurf/hooks.json .github/hooks/** managed-settings.json
    managed-settings.d/** gemini-cli/settings.json host-tools/guard/** host-tools/hook/**
    host-tools/hook-cache/** node_modules/.bin/host-tools node_modules/.bin/node
    node_modules/host-tools/** node_modules/yaml/** node_modules/unbash/**`,
  ],
  ['git', `.gitconfig .config/git/** etc/gitconfig`],
  [
    'mcp',
    `.mcp.json mcp.json mcp.jsonc .mcp.jsonc mcp_config.json mcp-config.json mcp_settings.json
    mcp-settings.json *_mcp_settings.json *-mcp-settings.json mcp.config.json mcp_servers.json
    mcp-servers.json mcpservers.json claude_desktop_config.json opencode.json opencode.jsonc
    .opencode.json .opencode.jsonc .opencode/config.json crush.json .crush.json .continue/config.*
    .continue/mcpservers/** .zed/settings.json .amp/settings.json goose/config.yaml
    .config/opencode/*.json .copilot/config.json .mcp/** .augment/settings.json .warp/mcp/**
    gemini-extension.json .claude-plugin/** .vscode/mcp.json .codeium/windsurf/*.json
    librechat.yaml .kilocode/mcp.json`,
  ],
];

/** What other programs run by themselves, and what agents take for orders. */
export const laterNames: readonly (readonly [FileKind, string])[] = [
  [
    'runs-later',
    `.claude/agents/** .claude/commands/** .claude/skills/** .claude/workflows/**
    .claude/output-styles/** .claude/*.sh .claude/*.py .claude/*.js .claude/*.mjs .claude/*.ts
    .claude/launch.json .claude/bin/** .claude/scripts/** .cursor/** .codex/** .gemini/** .kiro/**
    .junie/** .roo/** .roomodes .windsurf/** .opencode/** .agents/** .agent/** .trae/** .qwen/**
    .factory/** .augment/** .copilot/** .continue/** .zed/** .amp/** .amazonq/** .kilocode/**
    .kilocodemodes .goose/** .tabnine/** .cline/** .devin/** .aider.conf.yml .aider.conf.yaml
    .husky/** .githooks/** .git-hooks/** git-hooks/** githooks/** git_hooks/** .hooks/**
    hooks/pre-commit hooks/pre-push hooks/commit-msg hooks/post-checkout hooks/post-merge
    hooks/post-commit hooks/prepare-commit-msg hooks/pre-receive hooks/post-receive
    hooks/post-rewrite hooks/pre-rebase lefthook.* .lefthook.* lefthook-local.* .lefthook-local.*
    .lefthook/** .pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml prek.toml
    .overcommit.yml .git-hooks.* .simple-git-hooks.* simple-git-hooks.* .lintstagedrc
    .lintstagedrc.* lint-staged.config.* .huskyrc .huskyrc.* husky.config.* captainhook.json
    grumphp.yml .cargo-husky/** .rusty-hook.toml .gitmodules .git/info/attributes
    .github/workflows/** .github/actions/** .github/dependabot.yml .github/dependabot.yaml
    .github/renovate.json .forgejo/** .gitea/** action.yml action.yaml .gitlab-ci.yml
    .gitlab-ci.yaml .gitlab-ci.* .gitlab/** .circleci/** .buildkite/** .woodpecker/**
    .woodpecker.yml .woodpecker.yaml .teamcity/** .semaphore/** .tekton/** .drone.yml .drone.yaml
    .travis.yml .cirrus.yml .appveyor.yml appveyor.yml azure-pipelines* .azure-pipelines/**
    .azuredevops/** bitbucket-pipelines.yml jenkinsfile jenkinsfile.* *.jenkinsfile
    cloudbuild.yaml cloudbuild.yml buildspec.yml buildspec.yaml codemagic.yaml .ci/** .builds/**
    .build.yml .harness/** .screwdriver/** screwdriver.yaml .dagger/** earthfile .vscode/**
    *.code-workspace .idea/** .run/** .fleet/** .devcontainer/** .devcontainer.json
    devcontainer.json .gitpod.yml .gitpod.dockerfile .replit .idx/** .nvim.lua .nvimrc .exrc
    .vimrc .gvimrc .lvimrc .local.vimrc .dir-locals.el .emacs .emacs.d/** *.sublime-project .envrc
    mise.toml .mise.toml .mise.*.toml mise.*.toml .mise/** .config/mise/** .config/mise.toml
    .autoenv .tool-versions devenv.nix devbox.json .yarnrc .yarnrc.yml .yarn/plugins/**
    .yarn/releases/** .pnpmfile.cjs .pnpmfile.mjs .pnpmfile.js bunfig.toml .bunfig.toml
    .cargo/config .cargo/config.toml pip.conf pip.ini sitecustomize.py usercustomize.py *.pth
    .bazelrc .gdbinit .lldbinit .irbrc .pryrc .bashrc .bash_profile .bash_login .bash_logout
    .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login
    .inputrc .xinitrc .xprofile .xsession .config/fish/** .config/autostart/** .config/systemd/**
    .config/environment.d/** .local/bin/** library/launchagents/** library/launchdaemons/**
    .tmux.conf .screenrc .wgetrc .curlrc .pdbrc .rspec .rprofile .iex.exs .psqlrc .sqliterc
    .duckdbrc .ghci .ocamlinit .mailcap .ackrc .ripgreprc .ctags.d/** .tigrc .hgrc .hg/hgrc
    .jj/repo/** .dir-locals-2.el .helix/** .autoenv.* .mvn/** gradle-wrapper.properties
    gradle-wrapper.jar gradlew mvnw tools/bazel .venv/bin/** venv/bin/** node_modules/.bin/**
    renovate.json renovate.json5 .renovaterc .renovaterc.* .gitlab-ci/** *.gitlab-ci.yml
    wercker.yml .drone.* .readthedocs.yaml .readthedocs.yml .warp/** .vibe/** .pi/** .qodo/**
    .sweep.yaml .coderabbit.yaml .pr_agent.toml .git/info/** .git/objects/info/** .git/head
    .git/commondir hooks/hooks.json .lsp.json copilot-setup-steps.yml .claude/loop.md
    .worktreeinclude .ssh/rc .ssh/config crontab .crontab cron.d/**`,
  ],
  [
    'instructions',
    `agents.md agents.*.md agent.md claude.md claude.*.md gemini.md qwen.md warp.md codex.md
    jules.md skill.md .claude/rules/** .cursor/rules/** .cursorrules .windsurfrules
    .windsurf/rules/** .clinerules .clinerules/** .roorules .roorules-* .roo/rules/**
    .continue/rules/** .kiro/steering/** .junie/guidelines.md .amazonq/rules/** .trae/rules/**
    .augment/rules/** .augment-guidelines .kilocode/rules/** copilot-instructions.md
    .github/copilot-instructions.md .github/instructions/** .github/prompts/** .github/agents/**
    .github/chatmodes/** .github/skills/** .goosehints .rules .codex/prompts/**
    .gemini/commands/** .gemini/agents/** .gemini/skills/** .opencode/agent/**
    .opencode/command/** llms.txt .cursor/commands/** .aiassistant/rules/** .openhands/**
    .openhands_instructions replit.md *.instructions.md *.prompt.md *.chatmode.md *.mdc`,
  ],
];

/** What an agent writes for itself. These are no settings. */
export const notesNames: readonly (readonly [FileKind, string])[] = [
  [
    'own-notes',
    `.claude/plans/** .claude/projects/*/memory/** .claude/agent-memory/**
    .claude/agent-memory-local/** .claude/todos/** .claude/tasks/** .claude/session-memory/**
    .claude/scratchpad/** .gemini/tmp/** .gemini/plans/** .codex/memories/** .codex/plans/**`,
  ],
];

// Names of files with secrets, and of examples. Data only: `file-kinds.ts` reads it.

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
