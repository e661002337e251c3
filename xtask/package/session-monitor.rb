class SessionMonitor < Formula
  desc "Tells a coding agent what happened in its other sessions, and reads any of them"
  homepage "https://github.com/session-monitor/session-monitor"
  version "VERSION"
  license "MIT"

  base = "https://github.com/session-monitor/session-monitor/releases/download/vVERSION/session-monitor-VERSION"
  on_macos do
    on_arm do
      url "#{base}-aarch64-apple-darwin.tar.gz"
      sha256 "SHA256 aarch64-apple-darwin"
    end
    on_intel do
      url "#{base}-x86_64-apple-darwin.tar.gz"
      sha256 "SHA256 x86_64-apple-darwin"
    end
  end
  on_linux do
    on_arm do
      url "#{base}-aarch64-unknown-linux-musl.tar.gz"
      sha256 "SHA256 aarch64-unknown-linux-musl"
    end
    on_intel do
      url "#{base}-x86_64-unknown-linux-musl.tar.gz"
      sha256 "SHA256 x86_64-unknown-linux-musl"
    end
  end

  def install
    bin.install Dir["bin/*"]
    man1.install Dir["share/man/man1/*"]
    bash_completion.install Dir["share/bash-completion/completions/*"]
    zsh_completion.install Dir["share/zsh/site-functions/*"]
    fish_completion.install Dir["share/fish/vendor_completions.d/*"]
    pkgshare.install "share/session-monitor/skills"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/session-reader --version")
    assert_match "session", shell_output("#{bin}/session-context demo")
  end
end
