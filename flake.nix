# Unproven: nobody has run it. `nix run github:session-monitor/session-monitor -- watch --demo`
{
  description = "Tells a coding agent what happened in its other sessions, and reads any of them";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixpkgs-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      eachSystem = f: nixpkgs.lib.genAttrs systems (system: f nixpkgs.legacyPackages.${system});
      manifest = (fromTOML (builtins.readFile ./Cargo.toml)).workspace.package;
    in {
      packages = eachSystem (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "session-monitor";
          inherit (manifest) version;
          src = self;
          cargoLock.lockFile = ./Cargo.lock;
          SESSION_MONITOR_VERSION = "${manifest.version} (${self.shortRev or "dirty"})";
          nativeBuildInputs = [ pkgs.installShellFiles ];
          # They need tmux, a home and much time.
          doCheck = false;
          postInstall = ''
            installShellCompletion --cmd session-reader --bash src/reader/completions/bash \
              --zsh src/reader/completions/zsh --fish src/reader/completions/fish
            installShellCompletion --cmd session-context --bash src/reader/completions/bash \
              --fish src/reader/completions/fish
          '';
          meta = {
            description = "Tells a coding agent what happened in its other sessions, and reads any of them";
            homepage = manifest.homepage;
            license = pkgs.lib.licenses.mit;
            mainProgram = "session-reader";
          };
        };
      });
    };
}
