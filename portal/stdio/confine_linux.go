package stdio

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"ubl/confine"
)

const (
	// folderSize bounds what is in a child's folder, and each file that it writes, in bytes.
	folderSize = 64 << 20
	// openFiles bounds how many files a process has open.
	openFiles = 256
	// nobody is whom a node that is root runs programs as whose command names nobody.
	nobody = 65534
)

// possible refuses what this node may not do.
func (c *Command) possible() error {
	if c.User != "" && os.Geteuid() != 0 {
		return errors.New("user: only a node that is root can run a program as another user")
	}
	if os.Geteuid() == 0 && c.Isolation == ByUser && c.User == "" {
		return errors.New("user: names whom it runs as")
	}
	return nil
}

// runsAs is another user than the node's, nil for the node's own.
func (c *Command) runsAs() (*account, error) {
	who, err := c.account()
	if err == nil && who == nil && os.Geteuid() == 0 && c.Isolation != Not {
		who = &account{nobody, nobody}
	}
	return who, err
}

// process is a launcher of a program.
func process(launcher, told string, argv []string) *exec.Cmd {
	return exec.Command(launcher, append([]string{argument, told}, argv...)...)
}

// restrict has a child run as another user, nil for the node's, and in namespaces of its own.
// The kernel kills it when the thread ends that has started it.
func restrict(cmd *exec.Cmd, c *Command, who *account) {
	attr := cmd.SysProcAttr
	attr.Pdeathsig = syscall.SIGKILL
	if who != nil {
		attr.Credential = &syscall.Credential{Uid: uint32(who.uid), Gid: uint32(who.gid)}
	}
	if cmp.Or(c.Isolation, Isolated) != Isolated {
		return
	}
	attr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWIPC
	if !c.Network {
		attr.Cloneflags |= syscall.CLONE_NEWNET
	}
	attr.GidMappingsEnableSetgroups = who != nil // who isn't root can't let go of its groups
	if who == nil {
		who = &account{os.Geteuid(), os.Getegid()}
		attr.Credential = &syscall.Credential{Uid: uint32(who.uid), Gid: uint32(who.gid), NoSetGroups: true}
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: who.uid, HostID: who.uid, Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: who.gid, HostID: who.gid, Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN} // for its launcher's mounts
}

// ended waits until a process has ended, whose number stays its own.
func ended(cmd *exec.Cmd) {
	for errors.Is(unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
}

// become takes limits upon the process and runs the program in it. It returns errors alone.
func become(l launch, argv []string) error {
	runtime.LockOSThread() // rights are a thread's, and execve keeps those of its own
	if err := confine.CloseInherited(); err != nil {
		return err
	}
	if l.Isolated {
		if err := l.seal(); err != nil {
			return err
		}
	}
	confine.YieldToOthers()
	if err := giveUpRights(); err != nil {
		return err
	}
	if err := os.Chdir(l.Folder); err != nil {
		return fmt.Errorf("couldn't enter the folder: %w", err)
	}
	environment := os.Environ()
	err := confine.Take(
		confine.Limit{What: syscall.RLIMIT_CORE},
		confine.Limit{What: syscall.RLIMIT_CPU, Soft: l.CPU, Hard: l.CPU + 1},
		confine.Limit{What: syscall.RLIMIT_FSIZE, Soft: folderSize, Hard: folderSize},
		confine.Limit{What: syscall.RLIMIT_NOFILE, Soft: openFiles, Hard: openFiles},
		confine.Limit{What: unix.RLIMIT_NPROC, Soft: l.Processes, Hard: l.Processes},
		confine.Limit{What: syscall.RLIMIT_DATA, Soft: l.Memory, Hard: l.Memory},
	)
	if err != nil {
		return err
	}
	return fmt.Errorf("couldn't start %s: %w", argv[0], syscall.Exec(argv[0], argv, environment))
}

// giveUpRights leaves the thread, and the program after it, without any: it isn't root, and
// nothing that it starts has more rights than it has.
func giveUpRights() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("couldn't give up rights: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("couldn't give up new rights: %w", err)
	}
	// The process has this already, but its other threads' don't count after execve.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("couldn't be bound to the node: %w", err)
	}
	return nil
}

// seal makes a world for the program: a disk that can't be written, without what is hidden, a
// folder in memory, and no processes but its own.
func (l *launch) seal() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("couldn't make mounts private: %w", err)
	}
	closed := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &closed); err != nil {
		return fmt.Errorf("couldn't make the disk read-only: %w", err)
	}
	if err := hide(l.Hidden); err != nil {
		return err
	}
	if unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "") != nil {
		// A container whose own is partly covered doesn't let another in.
		if err := cover("/proc"); err != nil {
			return fmt.Errorf("couldn't hide other processes: %w", err)
		}
	}
	size := fmt.Sprintf("mode=0700,size=%d,nr_inodes=8192", folderSize)
	if err := unix.Mount("tmpfs", l.Folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, size); err != nil {
		return fmt.Errorf("couldn't make the folder: %w", err)
	}
	return nil
}

// hide lays nothing over files and folders. All links are followed first: they may be in what is
// hidden.
func hide(paths []string) error {
	var real []string
	for _, path := range paths {
		to, err := filepath.EvalSymlinks(path)
		if err == nil {
			real = append(real, to)
		} else if !unreachable(err) {
			return fmt.Errorf("couldn't find %s, to hide it: %w", path, err)
		}
	}
	for _, path := range real {
		info, err := os.Stat(path)
		switch {
		case unreachable(err): // hidden with what it is in
			continue
		case err == nil && info.IsDir():
			err = cover(path)
		case err == nil:
			err = unix.Mount("/dev/null", path, "", unix.MS_BIND, "")
		}
		if err != nil {
			return fmt.Errorf("couldn't hide %s: %w", path, err)
		}
	}
	return nil
}

// unreachable reports whether an error says that the program's user can't get to a file anyway.
func unreachable(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
}

// cover lays an empty folder over another.
func cover(path string) error {
	return unix.Mount("tmpfs", path, "tmpfs", unix.MS_RDONLY|unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "mode=0555,size=4096")
}
