package search_test
import ("testing";"time";"os";"path/filepath")
func TestZZ(t *testing.T){ h:=library(1000); dir:=t.TempDir(); x:=open(t,dir); b:=time.Now(); p:=processorTime(t); h.search(t,x,"nothing"); t.Log(time.Since(b), processorTime(t)-p); x.Close(); var n int64; filepath.Walk(dir,func(_ string,i os.FileInfo,_ error)error{n+=i.Size();return nil}); t.Log(n) }
