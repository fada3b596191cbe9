package awsjson_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hotsplit/hotsplit/emulator"
	"github.com/hotsplit/hotsplit/emulator/awsjson"
)

// The servers of the benchmark are processes of their own, so that the processor
// time of each can be told from the client's. This test binary plays two of them.

const (
	serveVariable = "HOTSPLIT_BENCH_SERVE" // ours or null
	cannedFolder  = "HOTSPLIT_BENCH_CANNED"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(serveVariable); role != "" {
		serveBench(role)
		return
	}
	os.Exit(m.Run())
}

// serveBench serves until its parent closes its standard input.
func serveBench(role string) {
	handler := awsjson.Handler(emulator.New(emulator.Options{Unlimited: true, LagMax: -1}))
	if role == "null" {
		handler = nullHandler(os.Getenv(cannedFolder))
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	go http.Serve(listener, handler)
	io.Copy(io.Discard, os.Stdin)
}

// nullHandler answers with the body recorded for the operation: the least that a
// server over net/http can do.
func nullHandler(folder string) http.Handler {
	bodies := map[string][]byte{}
	for _, name := range benchCases {
		body, err := os.ReadFile(filepath.Join(folder, name.name))
		if err == nil {
			bodies[name.name] = body
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.Write(bodies[r.Header.Get(caseHeader)])
	})
}

type benchServer struct {
	name    string
	address string
	process *exec.Cmd
}

// startSelf starts this binary in a role.
func startSelf(b *testing.B, role, canned string) *benchServer {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveVariable+"="+role, cannedFolder+"="+canned)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		stdin.Close()
		cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return &benchServer{role, strings.TrimSpace(line), cmd}
}

// startDynalite installs dynalite into a temporary folder and starts it. It
// answers nil, with a note, where that is not possible.
func startDynalite(b *testing.B) *benchServer {
	b.Helper()
	modules := os.Getenv("HOTSPLIT_DYNALITE") // a node_modules folder to use instead
	if modules == "" {
		folder := b.TempDir()
		if out, err := exec.Command("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", folder, "dynalite@4").CombinedOutput(); err != nil {
			fmt.Printf("dynalite left out: npm install: %v %s\n", err, out)
			return nil
		}
		modules = filepath.Join(folder, "node_modules")
	}
	port := freePort(b)
	cmd := exec.Command("node", filepath.Join(modules, "dynalite", "cli.js"), "--host", "127.0.0.1", "--port", strconv.Itoa(port), "--createTableMs", "0", "--deleteTableMs", "0")
	if err := cmd.Start(); err != nil {
		fmt.Printf("dynalite left out: %v\n", err)
		return nil
	}
	b.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	s := &benchServer{"dynalite", "127.0.0.1:" + strconv.Itoa(port), cmd}
	for range 200 {
		if c, err := net.Dial("tcp", s.address); err == nil {
			c.Close()
			return s
		}
		time.Sleep(50 * time.Millisecond)
	}
	fmt.Println("dynalite left out: it did not start")
	return nil
}

func freePort(b *testing.B) int {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// clockTick is the unit of processor time in /proc, on every Linux.
const clockTick = 10 * time.Millisecond

// cpu is the processor time that the server has used, 0 where it cannot be told.
func (s *benchServer) cpu() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.process.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * clockTick
}

// ownCPU is the processor time that this process has used.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
