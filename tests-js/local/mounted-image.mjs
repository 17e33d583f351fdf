// File systems in image files, for one test each: mounted in the namespace of all processes, shut down as the kernel does after
// an I/O error, and mounted again.
import { execFileSync } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { tempDir } from "./temp-dir.mjs";

const run = (program, ...args) => execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

const MAKE = {
  ext4: { size: "16M", options: ["-q", "-F"] },
  xfs: { size: "300M", options: ["-q", "-f"] },
  btrfs: { size: "128M", options: ["-q", "-f"] },
};

/** Makes a file system and mounts it. Processes that use it must end before the test does. */
export function mountImage(t, kind, { options = [] } = {}) {
  const at = tempDir();
  const [image, dir] = [join(at, "image"), join(at, "mounted")];
  mkdirSync(dir);
  run("truncate", `--size=${MAKE[kind].size}`, image);
  run(`mkfs.${kind}`, ...MAKE[kind].options, ...options, image);
  const attach = () => run("losetup", "--find", "--show", image).trim();
  const detach = (device) => run("losetup", "--detach", device);
  // Attached until the test ends: another program could take the device number between two mounts.
  let device = attach();
  let mounted;
  const mount = (on = dir) => {
    run("mount", device, on);
    mounted = on;
  };
  const unmount = (...options) => {
    run("umount", ...options, mounted);
    mounted = undefined;
  };
  t.after(() => {
    // Also where a test failed whose processes are still there: an error here would keep them from being ended.
    if (mounted !== undefined) unmount("--lazy");
    detach(device);
  });
  mount();
  return {
    dir,
    image,
    mount,
    unmount: () => unmount(),
    /** Gives an unmounted disk another device number. */
    renumber() {
      const old = device;
      device = attach();
      detach(old);
    },
    /** Shuts it down as an I/O error does: what was not flushed is lost, including unwritten parts of the journal. */
    shutDown() {
      const ioctl = 'open(F, "<", $ARGV[0]) or die $!; my $how = pack("L", 2); ioctl(F, 0x8004587d, $how) or die $!';
      run("perl", "-e", ioctl, dir);
    },
    /** Ends the disk after that many bytes, so that all beyond fails with EIO; 0: where the image ends. */
    resize(bytes) {
      const [get, set] = ["0x4c05", "0x4c04"]; // LOOP_GET_STATUS64, LOOP_SET_STATUS64: lo_sizelimit is at byte 32
      const ioctl = `open(F, "<", $ARGV[0]) or die $!; my $info = "\\0" x 232; ioctl(F, ${get}, $info) or die $!;
        substr($info, 32, 8) = pack("Q", $ARGV[1]); ioctl(F, ${set}, $info) or die $!`;
      run("perl", "-e", ioctl, device, String(bytes));
    },
    /** The inode number of the kernel's sysfs folder for this mount; the next mount has another. */
    superblock: () => statSync(`/sys/fs/${kind}/${basename(device)}`).ino,
  };
}

export { run };
