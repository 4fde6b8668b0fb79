package bucket

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"ubl"
)

// A store can't look at an object and remove it at once, so who keeps a blob and who removes it
// have to hear of one another. Who removes puts a marker beside before it looks, and takes it away
// after. Who keeps puts the object first, then waits until there is no marker, and then sees
// whether the object is still there:
//
//	put the object before the look     the look finds a new one, and it stays
//	after the look, before the removal the marker was there before: who keeps waits, and puts it again
//	after the removal                  it stays
//
// That holds where the store answers what it was last told, as S3 does.

// removingDir begins the names of markers: no tenant's id is like it.
const removingDir = "removing/"

// removeWithin is how long a removal may take unless the options say it. A marker that stays for
// twice that is of somebody who has died.
const removeWithin = 30 * time.Second

// lookEvery is how often who keeps a blob looks whether its marker has gone.
const lookEvery = 100 * time.Millisecond

func (b *Bucket) marker(name string) string {
	return b.opts.Prefix + removingDir + strings.TrimPrefix(name, b.opts.Prefix)
}

// Remove implements [ubl.Blobs]. What is kept again at the same time stays, on whichever node.
func (b *Bucket) Remove(ctx context.Context, t ubl.TenantID, id ubl.BlobID, after ubl.Time) (bool, error) {
	name, err := b.name(t, id)
	if err != nil {
		return false, err
	}
	within, cancel := context.WithTimeout(ctx, b.opts.RemoveWithin)
	defer cancel()
	marker := b.marker(name)
	if _, err := b.client.PutObject(within, b.opts.Bucket, marker, strings.NewReader("removing"), 8, putting()); err != nil {
		return false, failed("remove a blob", err)
	}
	removed, err := b.removeOld(within, name, after)
	if err != nil { // it may still be removed: the marker is left to tell of that
		return removed, err
	}
	return removed, failed("remove a marker", b.client.RemoveObject(ctx, b.opts.Bucket, marker, minio.RemoveObjectOptions{}))
}

func (b *Bucket) removeOld(ctx context.Context, name string, after ubl.Time) (bool, error) {
	info, there, err := b.stat(ctx, name)
	if err != nil || !there || ubl.TimeOf(info.LastModified) > after {
		return false, err
	}
	err = b.client.RemoveObject(ctx, b.opts.Bucket, name, minio.RemoveObjectOptions{})
	return err == nil, failed("remove a blob", err)
}

// stat looks at an object.
func (b *Bucket) stat(ctx context.Context, name string) (info minio.ObjectInfo, there bool, err error) {
	info, err = b.client.StatObject(ctx, b.opts.Bucket, name, minio.StatObjectOptions{})
	if minio.ToErrorResponse(err).StatusCode == http.StatusNotFound {
		return info, false, nil
	}
	return info, err == nil, failed("look for a blob", err)
}

// stays waits until nobody removes an object that was put, and says whether it is there then.
func (b *Bucket) stays(ctx context.Context, name string) (bool, error) {
	marker, began := b.marker(name), time.Now()
	var watched time.Time
	for {
		info, marked, err := b.stat(ctx, marker)
		if err != nil {
			return false, err
		}
		if !marked {
			_, there, err := b.stat(ctx, name)
			return there, err
		}
		if !info.LastModified.Equal(watched) { // of another removal than before
			watched, began = info.LastModified, time.Now()
		}
		if time.Since(began) > 2*b.opts.RemoveWithin {
			if err := b.client.RemoveObject(ctx, b.opts.Bucket, marker, minio.RemoveObjectOptions{}); err != nil {
				return false, failed("remove a marker", err)
			}
			continue
		}
		select {
		case <-time.After(lookEvery):
		case <-ctx.Done():
			return false, failed("keep a blob", ctx.Err())
		}
	}
}

// Sweep has the store forget parts of uploads to it that broke off, and markers of removals that
// did, where they began before a time. It answers how many there were.
func (b *Bucket) Sweep(ctx context.Context, before ubl.Time) (n int, err error) {
	ctx, cancel := context.WithCancel(ctx) // ends the lists
	defer cancel()
	core := minio.Core{Client: b.client}
	for upload := range b.client.ListIncompleteUploads(ctx, b.opts.Bucket, b.opts.Prefix, true) {
		if upload.Err != nil {
			return n, failed("list the uploads", upload.Err)
		}
		if ubl.TimeOf(upload.Initiated) > before {
			continue
		}
		if aborted := core.AbortMultipartUpload(ctx, b.opts.Bucket, upload.Key, upload.UploadID); aborted != nil {
			err = errors.Join(err, failed("end an upload", aborted))
			continue
		}
		n++
	}
	for object := range b.client.ListObjectsIter(ctx, b.opts.Bucket, minio.ListObjectsOptions{Prefix: b.opts.Prefix + removingDir, Recursive: true}) {
		if object.Err != nil {
			return n, errors.Join(err, failed("list the markers", object.Err))
		}
		if ubl.TimeOf(object.LastModified) > before {
			continue
		}
		if gone := b.client.RemoveObject(ctx, b.opts.Bucket, object.Key, minio.RemoveObjectOptions{}); gone != nil {
			err = errors.Join(err, failed("remove a marker", gone))
			continue
		}
		n++
	}
	return n, err
}
